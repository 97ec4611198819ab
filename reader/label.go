package reader

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// labelDType is the type of a batch's labels.
func (l *Loader) labelDType() (formats.DType, error) {
	d := l.config.LabelDType
	if f := l.dataset.Meta().Schema; l.label >= 0 && f[l.label].Kind == formats.Number {
		if d != "" && d != formats.Float32 {
			return d, fmt.Errorf("label type %s: the label %q is a number, whose type is %s", d, f[l.label].Name, formats.Float32)
		}
		return formats.Float32, nil
	}
	d = cmp.Or(d, formats.Int64)
	return d, checkLabels(d, len(l.Classes()))
}

// classified reports whether the designated label is one class index.
func (l *Loader) classified() bool {
	return l.label >= 0 && l.dataset.Meta().Schema[l.label].Kind == formats.Label
}

// checkLabels returns an error if the type cannot hold the class indices. Its largest value
// means no label.
func checkLabels(d formats.DType, classes int) error {
	limit := math.MaxInt
	switch d {
	case formats.Int64:
	case formats.Uint8:
		limit = math.MaxUint8
	case formats.Uint16:
		limit = math.MaxUint16
	default:
		return fmt.Errorf("label type %s: unknown; use %s, %s or %s", d, formats.Int64, formats.Uint8, formats.Uint16)
	}
	if classes > limit {
		return fmt.Errorf("label type %s: it can hold %d classes, but the dataset has %d", d, limit, classes)
	}
	return nil
}

// noNumber is the number of a sample without one.
var noNumber = math.Float32frombits(0x7fc00000)

// setLabel sets the label of entry i to class x; if labels are numbers, to none.
func (b *Batch) setLabel(i int, x int64) error {
	switch b.LabelDType {
	case formats.Uint8:
		if x != formats.NoLabel && (x < 0 || x >= math.MaxUint8) {
			return fmt.Errorf("%w: class %d does not fit into %s", formats.ErrSchema, x, formats.Uint8)
		}
		b.labels[i] = uint8(x)
	case formats.Uint16:
		if x != formats.NoLabel && (x < 0 || x >= math.MaxUint16) {
			return fmt.Errorf("%w: class %d does not fit into %s", formats.ErrSchema, x, formats.Uint16)
		}
		Elements[uint16](b.labels)[i] = uint16(x)
	case formats.Float32:
		Elements[float32](b.labels)[i] = noNumber
	default:
		Elements[int64](b.labels)[i] = x
	}
	return nil
}

// Label is the class of entry i, formats.NoLabel if it has none, whatever the labels' type. It panics for
// a batch that is no longer valid.
func (b *Batch) Label(i int) int64 {
	if b.labels == nil {
		b.memory("Label")
	}
	switch b.LabelDType {
	case formats.Uint8:
		if b.labels[i] == math.MaxUint8 {
			return formats.NoLabel
		}
		return int64(b.labels[i])
	case formats.Uint16:
		x := Elements[uint16](b.labels)[i]
		if x == math.MaxUint16 {
			return formats.NoLabel
		}
		return int64(x)
	case formats.Float32, "":
		return formats.NoLabel
	}
	return Elements[int64](b.labels)[i]
}

// label stores the designated label of the worker's sample in entry i.
func (w *worker) label(b *Batch, i int) error {
	l := w.loader
	if err := b.setLabel(i, formats.NoLabel); err != nil || l.label < 0 {
		return err
	}
	v := &w.sample.Values[l.label]
	if k := l.frame.columns; k > 0 {
		row, err := w.labelRow()
		copy(b.MultiHot[i*k:], row)
		return err
	}
	if l.frame.numbers() {
		x, err := w.labelNumber()
		Elements[float32](b.labels)[i] = x
		return err
	}
	x, ok := v.Int64()
	if !ok {
		return fmt.Errorf("%w: the label is not an int64", formats.ErrSchema)
	}
	if n := len(l.classes); n > 0 && x != formats.NoLabel && (x < 0 || x >= int64(n)) {
		return fmt.Errorf("%w: it is class %d, and the dataset has %d classes, from 0 on", formats.ErrSchema, x, n)
	}
	return b.setLabel(i, x)
}

// markPadding marks entry i as padding: it clears its index and, unless keepLabel, its label.
func (f *frame) markPadding(b *Batch, i int, keepLabel bool) {
	b.Indices[i] = -1
	if keepLabel {
		return
	}
	_ = b.setLabel(i, formats.NoLabel) // fits any type
	clear(b.MultiHot[i*f.columns:][:f.columns])
	clear(b.Soft[i*f.soft:][:f.soft])
}

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

// Labels gives the classes of the split's samples in key order, formats.NoLabel for none, without reading
// the samples: that of sample i is the little-endian int64 at data[i*stride:]. The memory is the caller's,
// 8 bytes a sample: a view of the index would show other classes, and no error, after the file is cut.
// release does nothing, and need not be called.
func (l *Loader) Labels() (data []byte, stride int, release func(), err error) {
	if err := l.enter(); err != nil {
		return nil, 0, nil, err
	}
	defer l.leave()
	var failed error
	mark := guard.Now()
	label, lent, err := l.labels(&failed)
	if err != nil {
		return nil, 0, nil, err
	}
	data = aligned(nil, 8*l.samples.Len())
	err = guard.Do(func() error {
		for i := range l.samples.Len() {
			class := int64(formats.NoLabel)
			if label != nil {
				class = label(i)
			}
			binary.LittleEndian.PutUint64(data[8*i:], uint64(class))
		}
		return cmp.Or(failed, lent.shortened())
	})
	if err = cmp.Or(l.samples.Check(mark), lent.since(mark, err)); err != nil {
		return nil, 0, nil, err
	}
	return data, 8, func() {}, nil
}

// lentLabels is the mapped memory of several datasets that labels are read from.
type lentLabels [][]byte

func (p lentLabels) shortened() error {
	for _, b := range p {
		if err := guard.Shortened(b); err != nil {
			return err
		}
	}
	return nil
}

// since returns the error that some of it was unreadable at some time since mark, else err.
func (p lentLabels) since(mark guard.Mark, err error) error {
	for _, b := range p {
		err = guard.Since(mark, b, err)
	}
	return err
}

// labels returns a function that gives a sample's class, and the mapped memory that it reads; nil if the
// dataset has no classes. It sets failed to its first error.
func (l *Loader) labels(failed *error) (label func(sample int) int64, lent lentLabels, err error) {
	if !l.classified() {
		return nil, nil, nil
	}
	of, lent, err := labelsOf(l.dataset, failed)
	return func(sample int) int64 { return of(l.samples.At(sample)) }, lent, err
}

// labelsOf is labels of a dataset, by index.
func labelsOf(ds formats.Dataset, failed *error) (label func(i int) int64, lent lentLabels, err error) {
	switch d := ds.(type) {
	case *concatenation:
		parts := make([]func(int) int64, len(d.datasets))
		for k, one := range d.datasets {
			of, more, err := labelsOf(one, failed)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", d.names[k], err)
			}
			parts[k], lent = of, append(lent, more...)
		}
		return func(i int) int64 { k, index := d.locate(i); return parts[k](index) }, lent, nil
	case indexed:
		data, stride, err := d.Labels()
		return func(i int) int64 { return int64(binary.LittleEndian.Uint64(data[i*stride:])) }, lentLabels{data}, err
	}
	return func(i int) int64 {
		in, err := ds.Info(i)
		if err != nil {
			*failed = cmp.Or(*failed, fmt.Errorf("label of sample %d: %w", i, err))
			return formats.NoLabel
		}
		return in.Label
	}, nil, nil
}
