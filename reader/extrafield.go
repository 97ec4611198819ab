package reader

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// Field is an extra field of a batch. Its values have one shape, or a shape each. Masks, boxes
// and extra images were transformed with the designated image: the same crop, the same flip.
type Field struct {
	Name  string
	Kind  formats.Kind
	DType formats.DType // of the elements; uint8 for texts, JSON and bytes
	// Shape is the shape of all values if they have the same: (H,W,C) of masks, as Config.Layout
	// says of images, () of labels. If it is nil, Shapes has the shape of each value: (N,4) of
	// boxes, the length of a text.
	Shape  []int
	Shapes [][]int
	// Data are the values one after another, little-endian elements of DType. Value i is
	// Data[Offsets[i]:Offsets[i+1]].
	Data    []byte
	Offsets []int
	values  []fieldValue // from the workers, if shapes differ
}

// fieldValue is one value in memory of its own.
type fieldValue struct {
	data  []byte
	shape []int
}

// Value is value i, of the batch's memory.
func (f *Field) Value(i int) []byte { return f.Data[f.Offsets[i]:f.Offsets[i+1]] }

// copyValues gives f memory of its own.
func (f *Field) copyValues() {
	f.Data, f.Offsets, f.values = cloneAligned(f.Data), slices.Clone(f.Offsets), nil
	f.Shape, f.Shapes = slices.Clone(f.Shape), slices.Clone(f.Shapes)
	for i := range f.Shapes {
		f.Shapes[i] = slices.Clone(f.Shapes[i])
	}
}

// Elements returns b, a Field's Data or one of its values, as elements of type T, without a copy.
func Elements[T uint8 | uint16 | int64 | float32](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// fieldFrame is what an extra field has in common in all batches.
type fieldFrame struct {
	name  string
	kind  formats.Kind
	field int // its index in the schema
	dtype formats.DType
	shape []int // nil where it differs
	size  int   // of a value in bytes, 0 where that differs
}

// fieldFrames finds the extra fields with the given names.
func (l *Loader) fieldFrames(schema formats.Schema, names []string) ([]fieldFrame, error) {
	frames := make([]fieldFrame, 0, len(names))
	for _, name := range names {
		k := schema.Index(name)
		switch {
		case k < 0:
			return nil, fmt.Errorf("%w: unknown field %q; the dataset has %s", formats.ErrSchema, name, strings.Join(fieldNames(schema), ", "))
		case k == l.image || k == l.label:
			return nil, fmt.Errorf("%w: field %q is in every batch already, as image or label: leave it out", formats.ErrSchema, name)
		}
		f, err := l.fieldFrame(&schema[k])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		f.name, f.kind, f.field = name, schema[k].Kind, k
		frames = append(frames, f)
	}
	return frames, nil
}

func fieldNames(schema formats.Schema) (names []string) {
	for _, f := range schema {
		names = append(names, f.Name)
	}
	return names
}

// fieldFrame finds type and shape of a field's values.
func (l *Loader) fieldFrame(f *formats.Field) (frame fieldFrame, err error) {
	switch f.Kind {
	case formats.Image, formats.Mask, formats.Boxes:
		if len(l.config.Views) > 0 {
			return frame, fmt.Errorf("%w: an extra %s follows the transforms of the image, of which views have several: "+
				"leave out the field or the views", formats.ErrSchema, f.Kind)
		}
	}
	switch f.Kind {
	case formats.Image:
		frame.dtype, frame.shape = l.frame.dtype, l.frame.imageShape()
	case formats.Mask:
		if frame.dtype, frame.shape, err = l.maskFrame(f.Name); err != nil {
			return frame, err
		}
	case formats.Number:
		frame.dtype, frame.shape = formats.Float32, []int{}
	case formats.Label:
		frame.dtype, frame.shape = formats.Int64, []int{}
	case formats.MultiHot:
		frame.dtype, frame.shape = formats.Uint8, []int{columns(formats.Schema{*f}, 0)}
	case formats.Boxes:
		frame.dtype = formats.Float32
	case formats.Array:
		frame.dtype, frame.shape = f.DType, fixed(f.Shape)
		if frame.dtype == "" {
			return frame, fmt.Errorf("%w: the element type differs from sample to sample", formats.ErrSchema)
		}
	default:
		frame.dtype = formats.Uint8
	}
	if frame.shape != nil {
		frame.size = frame.dtype.Size()
		for _, n := range frame.shape {
			frame.size *= n
		}
	}
	if f.Kind == formats.Array || f.Kind == formats.MultiHot {
		err = l.checkSize(f.Name, frame.size)
	}
	return frame, err
}

// maxUnchecked is the maximum size of a value for which the schema alone is trusted.
const maxUnchecked = 1 << 20

// checkSize compares the size of a field's values with that of the first one, if it is large: a
// schema may claim anything.
func (l *Loader) checkSize(name string, size int) error {
	if size <= maxUnchecked || l.samples.Len() == 0 {
		return nil
	}
	field := l.dataset.Meta().Schema.Index(name)
	return l.firstReadable(func(w *worker) error {
		data, err := w.decoder.Elements(&w.sample.Values[field])
		if err == nil && len(data) != size {
			err = fmt.Errorf("%w: field %s: a value has %d bytes, its shape says %d", formats.ErrSchema, name, len(data), size)
		}
		return err
	})
}

// fixed is shape, or nil if it has a free dimension.
func fixed(shape []int) []int {
	for _, n := range shape {
		if n < 0 {
			return nil
		}
	}
	return shape
}

// sized is f for one sample whose images have the sizes that the steps of the views end in.
func (f frame) sized(steps []augment.Steps) frame {
	h, w := steps[0].Size()
	f.shape[0], f.shape[1] = h, w
	f = f.ofOne(steps[1:])
	f.fields = slices.Clone(f.fields)
	for k := range f.fields {
		field := &f.fields[k]
		switch field.kind {
		case formats.Image:
			field.shape = f.imageShape()
		case formats.Mask:
			field.shape = []int{h, w, field.shape[2]}
		default:
			continue
		}
		field.size = field.dtype.Size() * field.shape[0] * field.shape[1] * field.shape[2]
	}
	return f
}

// imageShape is the shape of one image in the batch's layout.
func (f *frame) imageShape() []int {
	shape := f.batchShape(1, f.shape)
	return shape[1:]
}

// maskFrame decodes the first readable mask to find the type and channels.
func (l *Loader) maskFrame(name string) (formats.DType, []int, error) {
	if l.samples.Len() == 0 {
		return formats.Uint8, []int{l.frame.shape[0], l.frame.shape[1], 1}, nil
	}
	field := l.dataset.Meta().Schema.Index(name)
	var m *pixel.Image
	err := l.firstReadable(func(w *worker) (err error) {
		m, err = w.decodeMask(&w.sample.Values[field])
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return m.DType, []int{l.frame.shape[0], l.frame.shape[1], m.C}, nil
}

// resetFields gives the fields of b memory for n values.
func (f *frame) resetFields(b *Batch, n int) {
	if len(b.Fields) != len(f.fields) {
		b.Fields = make([]Field, len(f.fields))
	}
	for k := range f.fields {
		from, to := &f.fields[k], &b.Fields[k]
		to.Name, to.Kind, to.DType, to.Shape = from.name, from.kind, from.dtype, from.shape
		to.Offsets = resize(to.Offsets, true, n+1)
		if from.shape != nil {
			to.Data = aligned(to.Data, n*from.size)
			for i := range to.Offsets {
				to.Offsets[i] = i * from.size
			}
			continue
		}
		for len(to.values) < n {
			to.values = append(to.values, fieldValue{})
		}
	}
}

// joinFields concatenates the values of fields whose sizes differ.
func (f *frame) joinFields(b *Batch) {
	for k := range f.fields {
		if f.fields[k].shape != nil {
			continue
		}
		to := &b.Fields[k]
		total := 0
		for i := range b.N {
			to.Offsets[i] = total
			total += len(to.values[i].data)
		}
		to.Offsets[b.N] = total
		to.Data = aligned(to.Data, total)
		to.Shapes = to.Shapes[:0]
		for i := range b.N {
			copy(to.Data[to.Offsets[i]:], to.values[i].data)
			to.Shapes = append(to.Shapes, to.values[i].shape)
		}
	}
}

func (f *frame) moveFields(b *Batch, to, from int) {
	for k := range b.Fields {
		field := &b.Fields[k]
		if f.fields[k].shape != nil {
			copyRow(field.Data, to, field.Data, from, f.fields[k].size)
		} else {
			field.values[to], field.values[from] = field.values[from], field.values[to]
		}
	}
}

// aligned gives b n bytes, aligned to 8.
func aligned(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n]
}
