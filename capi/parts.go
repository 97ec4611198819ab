//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// part is one tensor of a batch.
type part struct {
	Name  string        `json:"name"`
	Kind  formats.Kind  `json:"kind"`
	DType formats.DType `json:"dtype"`
	// Shape is that of one sample's, null where it differs from sample to sample.
	Shape []int `json:"shape"`
	// bytes are the part's of a batch, shapes those of its samples where they differ.
	bytes  func(b *reader.Batch) []byte
	shapes func(b *reader.Batch) [][]int
}

// The kinds of parts that are no fields.
const (
	kindSoft  formats.Kind = "soft"  // labels of mixed images, a column for each class
	kindIndex formats.Kind = "index" // of samples among the loader's
)

// describe lists the parts of a loader's batches: the image, the labels, the indices, further
// fields in the order that the caller gave.
func (l *loader) describe() []part {
	schema, probe := l.dataset.Meta().Schema, l.Frame()
	image, label := schema.ImageIndex(), schema.LabelIndex()
	parts := []part{{
		Name: schema[image].Name, Kind: formats.Image, DType: probe.DType, Shape: probe.Image,
		bytes:  (*reader.Batch).ImageBytes,
		shapes: func(b *reader.Batch) [][]int { return [][]int{b.Shape[1:]} },
	}}
	if label >= 0 {
		parts = append(parts, labelPart(schema[label].Name, &probe))
	}
	parts = append(parts, part{
		Name: "index", Kind: kindIndex, DType: formats.Int64, Shape: []int{},
		bytes: func(b *reader.Batch) []byte { return bytesOf(b.Indices) },
	})
	for k, f := range probe.Fields {
		parts = append(parts, part{
			Name: f.Name, Kind: f.Kind, DType: f.DType, Shape: f.Shape,
			bytes:  func(b *reader.Batch) []byte { return b.Fields[k].Data },
			shapes: func(b *reader.Batch) [][]int { return b.Fields[k].Shapes },
		})
	}
	return parts
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
	return part{Name: name, Kind: kind, DType: f.Label, Shape: []int{}, bytes: labelsOf}
}

func labelsOf(b *reader.Batch) []byte {
	switch {
	case b.Labels8 != nil:
		return b.Labels8
	case b.Labels16 != nil:
		return bytesOf(b.Labels16)
	case b.Numbers != nil:
		return bytesOf(b.Numbers)
	}
	return bytesOf(b.Labels)
}

// bytesOf is s seen as bytes.
func bytesOf[T uint16 | int | int64 | float32](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// holder is a handle that has a batch.
type holder interface {
	current() (*reader.Batch, []part)
}

// dsconv_part copies part number k of the batch that a run or a single sample has by now to dst,
// if size is enough, and gives the number of bytes; -1 if there is no such part.
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

// dsconv_shapes writes, for each of the batch's samples, the number of dimensions of its value in
// part number k and their sizes to dst, if it has room for so many numbers, and gives how many
// there are; -1 if there is no such part.
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
