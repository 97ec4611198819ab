package hdf5

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/h5file"
)

// labelKind returns what the labels in an array are, "" if they are none.
func labelKind(d *h5file.Dataset) formats.Kind {
	switch n := rowElements(d); {
	case isText(d) && len(d.Dims) == 1:
		return formats.Label
	case isText(d), d.Type.Class == h5file.Variable, d.Type.Class == h5file.Float && d.Type.Size == 2:
		return ""
	case d.Type.Class == h5file.Float && n == 1:
		return formats.Number
	case d.Type.Class == h5file.Float:
		return ""
	case n == 1:
		return formats.Label
	case len(d.Dims) == 2 && d.Type.Size == 1:
		return formats.MultiHot
	}
	return ""
}

// loadLabels adds the label, which is in f, to the schema, and reads it if it is a class.
func (d *imageDataset) loadLabels(f *h5file.File) error {
	label := d.parts[0].label
	if label == nil {
		return nil
	}
	field := formats.Field{Name: "label", Kind: labelKind(label), Classes: d.parts[0].classes}
	switch field.Kind {
	case "":
		return fmt.Errorf("%w: the labels have the shape %v: a number, a text, or one byte for each class is read: name another array: --map label=/PATH", formats.ErrSchema, label.Dims)
	case formats.Label:
		d.labels = make([]int64, 0, min(d.meta.Count, 1<<16)) // the count is only claimed
		var err error
		if isText(label) {
			field.Classes, err = d.namedLabels(f)
		} else {
			err = d.numberedLabels(&field)
		}
		if err != nil {
			return err
		}
	case formats.MultiHot:
		if err := d.multiHot(&field); err != nil {
			return err
		}
	case formats.Number:
		field.DType = formats.Float32
	}
	d.meta.Schema = append(d.meta.Schema, field)
	return nil
}

// namedLabels reads labels that are names of classes, which are sorted.
func (d *imageDataset) namedLabels(f *h5file.File) ([]string, error) {
	numbers := map[string]int64{}
	each := func(do func(name string) error) error {
		for _, p := range d.parts {
			for i := range p.count {
				name, err := textAt(f, p.label, i)
				if err == nil {
					err = do(name)
				}
				if err != nil {
					return fmt.Errorf("label %d: %w", i, err)
				}
			}
		}
		return nil
	}
	err := each(func(name string) error {
		if numbers[name] = 0; len(numbers) > formats.MaxClasses {
			return fmt.Errorf("%w: there are more than %d classes", formats.ErrSchema, formats.MaxClasses)
		}
		return nil
	})
	names := slices.Sorted(maps.Keys(numbers))
	for i, name := range names {
		numbers[name] = int64(i)
	}
	if err == nil {
		err = each(func(name string) error { d.labels = append(d.labels, numbers[name]); return nil })
	}
	return names, err
}

// numberedLabels reads labels that are class indices.
func (d *imageDataset) numberedLabels(field *formats.Field) error {
	highest := int64(-1)
	for _, p := range d.parts {
		for i := range p.count {
			b, err := p.label.Row(i)
			if err != nil {
				return fmt.Errorf("label %d: %w", i, err)
			}
			x := intAt(b, p.label.Type)
			if x < formats.NoLabel || x >= formats.MaxClasses {
				return fmt.Errorf("label %d: %w: %d is not a class index", i, formats.ErrSchema, x)
			}
			d.labels, highest = append(d.labels, x), max(highest, x)
		}
	}
	return field.NumberClasses(highest)
}

// multiHot checks labels that have a byte for each class, and names the classes that have no names.
func (d *imageDataset) multiHot(field *formats.Field) error {
	n := d.parts[0].label.RowSize()
	for _, p := range d.parts {
		if p.label.RowSize() != n {
			return fmt.Errorf("%w: the labels of the splits %q and %q have %d and %d classes", formats.ErrSchema, d.parts[0].split, p.split, n, p.label.RowSize())
		}
		for i := range p.count {
			row, err := p.label.Row(i)
			if err != nil {
				return fmt.Errorf("label %d: %w", i, err)
			}
			if at := slices.IndexFunc(row, func(x byte) bool { return x > 1 }); at >= 0 {
				return fmt.Errorf("label %d: %w: it has %d for the class %d, and labels of a byte for each class are 0 or 1: name another array: --map label=/PATH", i, formats.ErrSchema, row[at], at)
			}
		}
	}
	if field.Classes != nil && len(field.Classes) != n {
		return fmt.Errorf("%w: the labels have %d classes, but there are %d names", formats.ErrSchema, n, len(field.Classes))
	}
	return field.NumberClasses(int64(n) - 1)
}

// labelAt returns a label that is no class.
func labelAt(f *formats.Field, d *h5file.Dataset, i int) (v formats.Value, err error) {
	b, err := d.Row(i)
	if err != nil {
		return v, err
	}
	v = formats.Value{Data: b, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(b)}}
	if f.Kind == formats.Number {
		v.DType, v.Shape = formats.Float32, nil
		v.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(floatAt(b, d.Type)))
	}
	return v, nil
}
