package reader

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Numbers reads the labels of the split's samples, in key order, if they are numbers (regression);
// NaN means no label. The images are not decoded.
func (l *Loader) Numbers(ctx context.Context) ([]float32, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer l.leave()
	if !l.frame.numbers() {
		return nil, fmt.Errorf("%w: the labels are not numbers", formats.ErrSchema)
	}
	w := l.acquire()
	defer l.release(w)
	list := make([]float32, l.samples.Len())
	for i := range list {
		if err := l.goesOn(ctx); err != nil {
			return nil, err
		}
		err := w.see(l.samples.At(i), func() (err error) {
			list[i], err = w.labelNumber()
			return err
		})
		w.free()
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// labelNumber is the designated label of the worker's sample.
func (w *worker) labelNumber() (float32, error) {
	x, ok := w.sample.Values[w.loader.label].Float32()
	if !ok {
		return 0, fmt.Errorf("%w: the label is not a float32", formats.ErrSchema)
	}
	return x, nil
}
