package reader

import (
	"context"
	"fmt"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// worker holds what one goroutine needs to build batch entries. Workers are pooled between
// epochs with their memory and decoder.
type worker struct {
	loader  *Loader
	decoder *codec.Decoder
	runner  augment.Runner
	steps   []augment.Steps // of each view
	groups  []viewGroup     // scratch of group
	rand    random.Rand
	sample  formats.Sample
	index   int         // of the sample in the dataset
	number  int         // of the sample among the loader's
	mark    guard.Mark  // before it was read
	fetched bool        // sample is that one
	cached  []byte      // the cache's memory that holds it
	pixels  pixel.Image // decoded; belongs to the worker
	lent    pixel.Image // pixels in the dataset's memory
	h, w    int         // of the designated image, before the plan
	masked  pixel.Image // a mask's pixels
	corners []float32   // of boxes
	// orientation is the designated image's EXIF orientation, which is applied to extra fields
	// too; 1 is upright.
	orientation int
	room        budget.Reservation // that the sample takes
	input       int64              // bytes that the sample takes as read, if it is large
	stop        *pixel.Stop
	counters
}

// stopBy lets s interrupt the work inside an image; nil for none.
func (w *worker) stopBy(s *pixel.Stop) {
	w.stop = s
	w.decoder.StopBy(s)
}

// fill stores the drawn sample in e. The error has the sample's key.
func (w *worker) fill(e entry, d draw) error {
	defer w.free()
	return w.use(func() error {
		now, err := w.take(d)
		if err != nil {
			return err
		}
		return w.render(e, now)
	})
}

// take reads the drawn sample and plans its transforms. It returns the time.
func (w *worker) take(d draw) (time.Duration, error) {
	l := w.loader
	w.index, w.number = l.samples.At(d.sample), d.sample
	now, err := w.fetch(w.index, w.begin())
	if err != nil {
		return now, err
	}
	if w.h, w.w, err = w.decoder.Size(&w.sample.Values[l.image], w.options()); err != nil {
		return now, fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	w.room.Extra = 0
	if w.steps == nil {
		w.steps = make([]augment.Steps, len(l.views))
	}
	for k := range l.views {
		v := &l.views[k]
		w.rand = d.rand(v.seed)
		v.pipeline.Draw(&w.steps[k], w.h, w.w, &w.rand)
		w.room.Extra = max(w.room.Extra, w.steps[k].Room(l.pixelDType())) // one after another
	}
	return now, nil
}

// free releases the memory that the sample reserved.
func (w *worker) free() {
	if w.room.Large() {
		w.decoder.Shrink()
		w.runner.Shrink()
		for _, m := range []*pixel.Image{&w.pixels, &w.masked} {
			m.Shrink()
		}
	}
	w.room.Release()
}

// freeStored releases the memory of the pixels that were stored last, before others of the same
// sample are decoded.
func (w *worker) freeStored() {
	extra := w.room.Extra
	w.free()
	w.room.Extra = extra
}

// render stores the sample that was taken in e.
func (w *worker) render(e entry, now time.Duration) error {
	b, i := e.batch, e.at
	now, err := w.renderImage(e, now)
	if err != nil {
		return err
	}
	b.Indices[i], b.Samples[i] = w.number, w.number
	if err := w.label(b, i); err != nil {
		return fmt.Errorf("label of %s: %w", w.sample.Key, err)
	}
	if err := w.fields(b, i); err != nil {
		return fmt.Errorf("%s: %w", w.sample.Key, err)
	}
	w.finish(w.lap(stageCollate, now))
	return nil
}

// decode returns the image's pixels and whether they belong to the worker: raw pixels of the
// right kind are used in the dataset's memory.
func (w *worker) decode(v *formats.Value, o codec.DecodeOptions) (m *pixel.Image, own bool, err error) {
	if w.lends(v) {
		if m, err = w.lend(v); err == nil {
			err = w.room.ReserveImage(0, len(v.Data), o.MaxPixels)
		}
		return m, false, err
	}
	w.decoder.Reservation = &w.room
	err = w.decoder.Decode(&w.pixels, v, o)
	if how := w.decoder.Narrowed(); how != "" {
		w.loader.narrowed.note(w.sample.Key, how)
	}
	return &w.pixels, true, err
}

func (w *worker) options() codec.DecodeOptions {
	c := &w.loader.config
	o := codec.DecodeOptions{Color: c.Color, Deep: c.deep(), MaxPixels: c.MaxPixels}
	if c.ApplyOrientation {
		o.EXIF = pixel.EXIFApply
	}
	if c.FastDecode {
		o.Mode = codec.Fast
	}
	return o
}

// lends reports whether v's pixels can be used in the dataset's memory.
func (w *worker) lends(v *formats.Value) bool {
	return v.Encoding == formats.Raw && v.DType == formats.Uint8 && len(v.Shape) == 3 && w.loader.acceptsChannels(v.Shape[2])
}

func (w *worker) lend(v *formats.Value) (*pixel.Image, error) {
	h, width, c := v.Shape[0], v.Shape[1], v.Shape[2]
	if h <= 0 || width <= 0 || h > len(v.Data) || width > len(v.Data) || len(v.Data) != h*width*c {
		return nil, fmt.Errorf("%w: the image has %d bytes, which is not the size of its shape %v", formats.ErrDamaged, len(v.Data), v.Shape)
	}
	w.lent = pixel.Image{Pix: v.Data, H: h, W: width, C: c, DType: v.DType}
	return &w.lent, nil
}

// target is an image of view k of a batch of f, or of an extra field, in the memory dst.
func (l *Loader) target(f *frame, k int, dst []byte) resample.Target {
	t := resample.Target{Spec: l.views[k].pipeline.Store()}
	if f.leaves == augment.LeaveFlips {
		t.Spec = l.views[k].pixels
	}
	switch f.dtype {
	case formats.Uint8:
		t.Uint8 = dst
	case formats.Float32:
		t.Float32 = Elements[float32](dst)
	default:
		t.Half = Elements[uint16](dst)
	}
	return t
}

// acquire takes a worker from the pool, or makes one.
func (l *Loader) acquire() *worker {
	guard.Renew()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return w
	}
	w := &worker{loader: l, decoder: l.held.decoder()}
	w.now = l.now
	l.workers = append(l.workers, w)
	return w
}

func (l *Loader) release(w *worker) {
	w.stopBy(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, w)
}

// acquireBatch takes a batch with its buffers from the pool, or makes one.
func (l *Loader) acquireBatch() *Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.batches)
	if n == 0 {
		return &Batch{}
	}
	b := l.batches[n-1]
	l.batches = l.batches[:n-1]
	return b
}

// releaseBatch puts b back into the pool; lent are images that are not the Loader's.
func (l *Loader) releaseBatch(b *Batch, lent bool) {
	if lent {
		b.images = nil
	}
	b.freeDevice()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing.Load() {
		l.batches = append(l.batches, b)
	}
}

// reserveInput waits until a sample of size bytes may be read into the worker's memory. freeInput ends that.
func (w *worker) reserveInput(size int64) {
	w.freeInput()
	w.input, _ = budget.SharedInputs.Reserve(context.Background(), size) // cannot fail: the context does not end
}

// freeInput frees the memory of the worker's sample if that is large.
func (w *worker) freeInput() {
	if w.input == 0 {
		return
	}
	w.sample = formats.Sample{}
	budget.SharedInputs.Release(w.input)
	w.input = 0
}
