package reader

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Numbers reads the labels of the split's samples, in key order, if they are numbers (regression);
// NaN means no label. The images are not decoded.
func (l *Loader) Numbers(ctx context.Context) ([]float32, error) {
	var list []float32
	err := l.readLabels(ctx, func() error {
		if !l.frame.numbers() {
			return fmt.Errorf("%w: the labels are not numbers", formats.ErrSchema)
		}
		list = make([]float32, l.samples.Len())
		return nil
	}, func(w *worker, i int) (err error) {
		list[i], err = w.labelNumber()
		return err
	})
	return list, err
}

// MultiHot reads the labels of the split's samples, in key order, if they are multi-hot: a row for each
// sample with a column for each class, which is 1 where the class applies. Row i of k columns begins at
// i*k. The images are not decoded.
func (l *Loader) MultiHot(ctx context.Context) ([]uint8, error) {
	var rows []uint8
	columns := l.frame.columns
	err := l.readLabels(ctx, func() error {
		if columns == 0 {
			return fmt.Errorf("%w: the labels are not multi-hot", formats.ErrSchema)
		}
		rows = make([]uint8, l.samples.Len()*columns)
		return nil
	}, func(w *worker, i int) error {
		row, err := w.labelRow()
		copy(rows[i*columns:], row)
		return err
	})
	return rows, err
}

// readLabels calls prepare, then store with each sample of the split in key order, whose fields the worker
// has read and not decoded.
func (l *Loader) readLabels(ctx context.Context, prepare func() error, store func(w *worker, i int) error) error {
	if ctx == nil {
		return errNoContext
	}
	if err := l.enter(); err != nil {
		return err
	}
	defer l.leave()
	if err := prepare(); err != nil {
		return err
	}
	w := l.acquire()
	defer l.release(w)
	for i := range l.samples.Len() {
		if err := l.goesOn(ctx); err != nil {
			return err
		}
		err := w.see(l.samples.At(i), func() error { return store(w, i) })
		w.free()
		if err != nil {
			return err
		}
	}
	return nil
}

// labelNumber is the designated label of the worker's sample.
func (w *worker) labelNumber() (float32, error) {
	x, ok := w.sample.Values[w.loader.label].Float32()
	if !ok {
		return 0, fmt.Errorf("%w: the label is not a float32", formats.ErrSchema)
	}
	return x, nil
}

// labelRow is the designated label of the worker's sample where it is multi-hot.
func (w *worker) labelRow() ([]byte, error) {
	data, k := w.sample.Values[w.loader.label].Data, w.loader.frame.columns
	if len(data) != k {
		return nil, fmt.Errorf("%w: the label has %d columns, the schema %d classes", formats.ErrSchema, len(data), k)
	}
	return data, nil
}
