//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/order"
)

// part is one tensor of a batch.
type part struct {
	Name  string        `json:"name"`
	Kind  formats.Kind  `json:"kind"`
	DType formats.DType `json:"dtype"`
	// Shape is the shape of one sample's value; null if it differs from sample to sample.
	Shape []int `json:"shape"`
	// bytes returns the part's bytes in a batch, shapes the shapes of its samples where they differ.
	bytes  func(b *reader.Batch) []byte
	shapes func(b *reader.Batch) [][]int
}

// Kinds of parts that are not fields.
const (
	kindSoft  formats.Kind = "soft"  // labels of mixed images, a float for each class
	kindIndex formats.Kind = "index" // the samples' indices in the loader's split
)

// describe lists the parts of a loader's batches: the images, of the first view if there are several, the
// labels, the indices, then the extra fields in the order that the caller gave.
func (l *loader) describe() []part {
	schema, frame := l.Meta().Schema, l.Frame()
	dtype, shape := frame.DType, frame.Image
	if frame.Final != nil {
		dtype, shape = frame.Final[0].DType, frame.Final[0].Image
	}
	image, label := schema.ImageIndex(), schema.LabelIndex()
	parts := []part{imagePart(schema[image].Name, dtype, shape)}
	if label >= 0 {
		parts = append(parts, labelPart(schema[label].Name, &frame))
	}
	parts = append(parts, part{
		Name: "index", Kind: kindIndex, DType: formats.Int64, Shape: []int{},
		bytes: l.indexBytes,
	})
	for k, f := range frame.Fields {
		parts = append(parts, part{
			Name: f.Name, Kind: f.Kind, DType: f.DType, Shape: f.Shape,
			bytes: func(b *reader.Batch) []byte { return b.Fields[k].Data },
			shapes: func(b *reader.Batch) [][]int {
				if shape := b.Fields[k].Shape; shape != nil { // of a batch of one sample: see reader.Config.AnySize
					return [][]int{shape}
				}
				return b.Fields[k].Shapes
			},
		})
	}
	return parts
}

// imagePart is a batch's images, those of the first view.
func imagePart(name string, dtype formats.DType, shape []int) part {
	return part{
		Name: name, Kind: formats.Image, DType: dtype, Shape: shape,
		bytes:  (*reader.Batch).ImageBytes,
		shapes: func(b *reader.Batch) [][]int { return [][]int{b.Shape[1:]} },
	}
}

// indexBytes are the samples' indices. Those of padding are -1, unless the tail only repeats samples: a caller
// who writes to a row for each index must not write to the last one.
func (l *loader) indexBytes(b *reader.Batch) []byte {
	if l.Config().Tail == order.Repeat {
		return bytesOf(b.Samples)
	}
	return bytesOf(b.Indices)
}

// viewPart is one of the views of a loader's images.
type viewPart struct {
	Part   int    `json:"part"`   // its number, as dsconv_part takes it
	Shape  []int  `json:"shape"`  // of one image; null if it differs from sample to sample
	Offset int    `json:"offset"` // in bytes, of its images in a block
	Seed   uint64 `json:"seed"`   // reader.ViewSeed
}

// describeViews lists the views, none if there is one image of each sample alone, and appends parts for those
// but the first.
func (l *loader) describeViews(parts []part) ([]part, []viewPart) {
	var views []viewPart
	frame := l.Frame()
	for k, v := range frame.Views {
		if frame.Final != nil {
			v.Image = frame.Final[k].Image
		}
		view := viewPart{Shape: v.Image, Offset: v.Offset, Seed: reader.ViewSeed(l.Config().Seed, k)}
		if k > 0 {
			view.Part = len(parts)
			parts = append(parts, part{
				Name: parts[0].Name, Kind: formats.Image, DType: parts[0].DType, Shape: v.Image,
				bytes:  func(b *reader.Batch) []byte { return b.ViewBytes(k) },
				shapes: func(b *reader.Batch) [][]int { shape := b.ViewShape(k); return [][]int{shape[1:]} },
			})
		}
		views = append(views, view)
	}
	return parts, views
}

func labelPart(name string, f *reader.Frame) part {
	switch {
	case f.Soft > 0:
		return part{
			Name: name, Kind: kindSoft, DType: formats.Float32, Shape: []int{f.Soft},
			bytes: func(b *reader.Batch) []byte { return bytesOf(b.Soft) },
		}
	case f.Columns > 0:
		return part{
			Name: name, Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{f.Columns},
			bytes: func(b *reader.Batch) []byte { return b.MultiHot },
		}
	}
	kind := formats.Label
	if f.Label == formats.Float32 {
		kind = formats.Number
	}
	return part{Name: name, Kind: kind, DType: f.Label, Shape: []int{}, bytes: (*reader.Batch).LabelBytes}
}

// bytesOf returns the memory of s as bytes.
func bytesOf[T int | float32](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// holder is an object that has a batch: a run or a single.
type holder interface {
	current() (*reader.Batch, []part)
}

// dsconv_part returns the number of bytes of part k of the current batch of a run or a single sample;
// -1 if there is no such part. It copies them to dst if size is enough.
//
//export dsconv_part
func dsconv_part(handle C.int64_t, k C.int32_t, dst unsafe.Pointer, size C.int64_t) C.int64_t {
	return counted(func() (int, error) {
		b, p, err := partOf(int64(handle), int(k))
		if err != nil {
			return 0, err
		}
		data := p.bytes(b)
		if dst != nil && int64(size) >= int64(len(data)) {
			copy(unsafe.Slice((*byte)(dst), len(data)), data)
		}
		return len(data), nil
	})
}

// dsconv_shapes writes to dst, for each of the batch's samples, the number of dimensions of its value
// in part k and their sizes, if room, the numbers that dst has space for, is enough. It returns how
// many numbers there are; -1 if there is no such part.
//
//export dsconv_shapes
func dsconv_shapes(handle C.int64_t, k C.int32_t, dst *C.int64_t, room C.int64_t) C.int64_t {
	return counted(func() (int, error) {
		b, p, err := partOf(int64(handle), int(k))
		if err != nil || p.shapes == nil {
			return -1, err
		}
		var all []C.int64_t
		for _, shape := range p.shapes(b) {
			all = append(all, C.int64_t(len(shape)))
			for _, n := range shape {
				all = append(all, C.int64_t(n))
			}
		}
		if dst != nil && int(room) >= len(all) {
			copy(unsafe.Slice(dst, len(all)), all)
		}
		return len(all), nil
	})
}

func partOf(handle int64, k int) (*reader.Batch, *part, error) {
	h, err := lookup[holder](handle)
	if err != nil {
		return nil, nil, err
	}
	b, parts := h.current()
	if b == nil || k < 0 || k >= len(parts) {
		return nil, nil, fmt.Errorf("part %d of %d: %w", k, len(parts), errValue)
	}
	return b, &parts[k], nil
}

// single is a batch of one sample, behind a handle.
type single struct {
	batch reader.Batch
	parts []part
}

func (s *single) current() (*reader.Batch, []part) { return &s.batch, s.parts }

// singles pools the singles that no handle stands for, and so their memory.
var singles = sync.Pool{New: func() any { return new(single) }}

// dsconv_pick reads, decodes and transforms sample i of the loader's split as in an epoch. position
// is -1, or the sample's position in an epoch in which samples may come more than once. *out becomes
// a handle of the sample's parts, which dsconv_drop closes. It returns NULL, or an error as
// dsconv_call does.
//
//export dsconv_pick
func dsconv_pick(handle C.int64_t, i, epoch, position C.int64_t, out *C.int64_t) *C.char {
	return succeeded(func() error {
		return withLoader(int64(handle), func(l *loader) error {
			return openSingle(out, func(s *single) error {
				s.parts = l.parts
				if position < 0 {
					return l.Pick(int(i), int(epoch), &s.batch)
				}
				return l.PickAt(int(i), int(position), int(epoch), &s.batch)
			})
		})
	})
}

// openSingle sets *out to the handle of a single, which fill fills.
func openSingle(out *C.int64_t, fill func(s *single) error) error {
	if out == nil {
		return fmt.Errorf("%w: the pointer for the handle is NULL", errValue)
	}
	s := singles.Get().(*single) // if fill panics, it does not go back to the pool
	err := fill(s)
	if err == nil {
		var handle int64
		handle, err = handles.add(s)
		*out = C.int64_t(handle)
	}
	if err != nil {
		singles.Put(s)
	}
	return err
}

func (s *single) drop() { singles.Put(s) }

// dsconv_drop closes the handle of a single sample or of numbers.
//
//export dsconv_drop
func dsconv_drop(handle C.int64_t) {
	_ = guard.Do(func() error { // a closed handle is no error
		if o, ok := take[interface{ drop() }](int64(handle)); ok {
			o.drop()
		}
		return nil
	})
}
