package reader

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

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
