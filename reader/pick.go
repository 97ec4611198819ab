package reader

import "fmt"

// At is Pick in epoch 0.
func (l *Loader) At(i int, b *Batch) error { return l.Pick(i, 0, b) }

// Pick makes b a batch of one: sample i of the split in order of key, 0 <= i < Samples(), with
// what the transforms draw in an epoch, not mixed with others. With Config.AnySize its shape is
// the image's own. b's memory is reused and stays the caller's.
func (l *Loader) Pick(i, epoch int, b *Batch) error {
	if i < 0 || i >= l.samples.Len() {
		return fmt.Errorf("sample %d: there are %d", i, l.samples.Len())
	}
	w := l.acquire()
	defer l.release(w)
	f := l.frame
	err := w.use(func() error {
		now, err := w.take(l.draw(i, i, epoch, l.plan.Repeats(), 0))
		if err != nil {
			return err
		}
		if l.config.AnySize {
			f.shape[0], f.shape[1] = w.plan.H, w.plan.W
		}
		f.reset(b, 1)
		return w.render(b, 0, f.entry(), now)
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
