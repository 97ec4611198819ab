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
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// transform transforms single images, without a dataset.
type transform struct {
	pipeline *augment.Pipeline
	dtype    formats.DType
	layout   pixel.Layout
	channels int
}

type transformArguments struct {
	Ops      augment.Ops   `json:"words"`
	DType    formats.DType `json:"dtype"`
	Layout   pixel.Layout  `json:"layout"`
	Channels int           `json:"channels"`
}

// openTransform returns a handle, which forget closes.
func openTransform(a transformArguments) (any, error) {
	p, err := augment.CompileEach(a.Ops, a.Channels, a.DType, a.Layout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errValue, err)
	}
	return handles.add(&transform{pipeline: p, dtype: a.DType, layout: a.Layout, channels: a.Channels})
}

// draw is the size of an image and what its random draws depend on.
type draw struct {
	Transform int64  `json:"transform"`
	Height    int    `json:"height"`
	Width     int    `json:"width"`
	Seed      uint64 `json:"seed"`
	Epoch     int    `json:"epoch"`
	Sample    int    `json:"sample"`
}

// maxSide is the largest height or width of an image: the product of two and the channels fits an
// int64.
const maxSide = 1 << 28

// check reports an impossible size.
func (d *draw) check() error {
	if d.Height < 1 || d.Width < 1 || d.Height > maxSide || d.Width > maxSide {
		return fmt.Errorf("%w: an image of %dx%d has no pixels, or too many", errValue, d.Width, d.Height)
	}
	return nil
}

// draw draws what the transform does to an image.
func (t *transform) draw(s *augment.Steps, d *draw) {
	r := random.NewRand(d.Seed, d.Epoch, d.Sample)
	t.pipeline.Draw(s, d.Height, d.Width, &r)
}

// planOf returns the steps that the transform does to an image, with what it draws.
func planOf(d draw) (any, error) {
	t, err := lookup[*transform](d.Transform)
	if err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	var s augment.Steps
	t.draw(&s, &d)
	return s.List(), nil
}

// dsconv_transform transforms the height*width*channels pixels at src, which it does not change. *out
// becomes a handle of the result, whose only part is the image; dsconv_drop closes it. It returns
// NULL, or an error as dsconv_call does.
//
//export dsconv_transform
func dsconv_transform(handle C.int64_t, src *C.uint8_t, height, width C.int64_t, seed C.uint64_t, epoch, sample C.int64_t, out *C.int64_t) *C.char {
	return succeeded(func() error {
		t, err := lookup[*transform](int64(handle))
		if err != nil {
			return err
		}
		d := draw{Height: int(height), Width: int(width), Seed: uint64(seed), Epoch: int(epoch), Sample: int(sample)}
		if err := d.check(); err != nil {
			return err
		}
		pixels, err := slice((*byte)(unsafe.Pointer(src)), C.int64_t(d.Height*d.Width*t.channels))
		if err != nil {
			return err
		}
		m := pixel.Image{Pix: pixels, H: d.Height, W: d.Width, C: t.channels, DType: formats.Uint8}
		return openSingle(out, func(s *single) error {
			s.parts = transformedParts
			if err := t.apply(&m, &d, &s.batch); err != nil {
				return fmt.Errorf("transform an image of %dx%d: %w", d.Width, d.Height, err)
			}
			return nil
		})
	})
}

var transformedParts = []part{imagePart("image", "", nil)}

// apply makes b a batch of one image: m, transformed.
func (t *transform) apply(m *pixel.Image, d *draw, b *reader.Batch) error {
	var s augment.Steps
	t.draw(&s, d)
	if err := t.pipeline.Fits(m, &s); err != nil {
		return err
	}
	h, w := s.Size()
	shape := [4]int{1, h, w, t.channels}
	if t.layout == pixel.NCHW {
		shape = [4]int{1, t.channels, h, w}
	}
	made, err := reader.NewBatch(shape, t.dtype, "")
	if err != nil {
		return err
	}
	*b = *made
	target := resample.Target{Spec: t.pipeline.Store()}
	switch t.dtype {
	case formats.Uint8:
		target.Uint8 = reader.Pixels[uint8](b)
	case formats.Float32:
		target.Float32 = reader.Pixels[float32](b)
	default:
		target.Half = reader.Pixels[uint16](b)
	}
	var r augment.Runner
	if err := r.Apply(&s, m, false, target); err != nil {
		return err
	}
	return r.Store()
}
