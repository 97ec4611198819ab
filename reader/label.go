package reader

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
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
