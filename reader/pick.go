package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// At is Pick in epoch 0.
func (l *Loader) At(i int, b *Batch) error { return l.Pick(i, 0, b) }

// checkBudget returns an error if an entry of that frame would be too large.
func (w *worker) checkBudget(f *frame) error {
	for k := range w.steps {
		shape := f.viewShape(k)
		if float64(shape[0])*float64(shape[1]) > budget.Budget {
			return fmt.Errorf("%w: the transforms enlarge it to %dx%d", pixel.ErrTooLarge, shape[1], shape[0])
		}
	}
	entry := budget.Reservation{Extra: int64(f.imageBytes(1))}
	defer entry.Release()
	v := &w.sample.Values[w.loader.image]
	return entry.ReserveImage(0, len(v.Data), w.loader.config.MaxPixels)
}

// Pick loads a single sample into b: sample i of the split in key order, 0 <= i < Samples(),
// transformed as in that epoch, without MixUp and CutMix. With Config.AnySize its shape is
// the image's own. b, which may be empty, must be the caller's own; its memory is used again.
func (l *Loader) Pick(i, epoch int, b *Batch) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	return l.pick(drawOf(i, i, epoch, l.plan.Repeats(), 0), b)
}

// PickAt is Pick of a sample that may come more than once in an epoch: its transforms are seeded by
// its position there, in the Loader's order or in a RunOptions.List.
func (l *Loader) PickAt(i, position, epoch int, b *Batch) error {
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	var rank uint64
	if !l.plan.Repeats() {
		rank = listRank(l.config.Rank)
	}
	return l.pick(drawOf(i, position, epoch, true, rank), b)
}

func (l *Loader) pick(d draw, b *Batch) error {
	if b.lease != nil {
		return errors.New("reader: Pick: the batch is an epoch's: use new(reader.Batch), or a Clone")
	}
	if d.sample < 0 || d.sample >= l.samples.Len() {
		return fmt.Errorf("sample %d: the indices are 0 to %d", d.sample, l.samples.Len()-1)
	}
	w := l.acquire()
	defer l.release(w)
	defer w.free()
	f := l.single.ofOne(nil)
	err := w.use(func() error {
		now, err := w.take(d)
		if err != nil {
			return err
		}
		if l.config.AnySize {
			f = f.sized(w.steps)
			if err := w.checkBudget(&f); err != nil {
				return fmt.Errorf("transform %s: %w", w.sample.Key, err)
			}
		}
		f.reset(b, 1)
		return w.render(entry{frame: &f, batch: b}, now)
	})
	if err != nil {
		return err
	}
	f.joinFields(b)
	if f.soft > 0 {
		f.soften(b)
	}
	return nil
}
