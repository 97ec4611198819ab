//go:build cgo

package main

/*
#include "rest.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// restPart is what rest.h says of the images of a view as the consumer gets them.
type restPart struct {
	DType    formats.DType `json:"dtype"`
	Shape    []int         `json:"shape"`
	Channels int           `json:"channels"`
	Tables   bool          `json:"tables"`
	Previous bool          `json:"previous"`
}

// rest describes the views of batches that the consumer finishes; null if there are none.
func (l *loader) rest() (rest []restPart) {
	frame := l.Frame()
	for k, final := range frame.Final {
		p := restPart{
			DType: frame.DType, Shape: frame.Image, Channels: l.ImageShape()[2],
			Tables: final.Values != nil, Previous: final.Previous,
		}
		if frame.Views != nil {
			p.Shape = frame.Views[k].Image
		}
		rest = append(rest, p)
	}
	return rest
}

// dsconv_tables returns the number of values in the tables of a loader's view: 256 for each channel, 0 if it has
// none, -1 if there is no such view. It copies them to dst if room, the numbers that dst has space for, is enough:
// the bits of an element of the images' final type, in the low bits.
//
//export dsconv_tables
func dsconv_tables(handle C.int64_t, view C.int32_t, dst *C.uint32_t, room C.int64_t) C.int64_t {
	return counted(func() (n int, err error) {
		err = withLoader(int64(handle), func(l *loader) error {
			final := l.Frame().Final
			if view < 0 || int(view) >= len(final) {
				return fmt.Errorf("%w: tables of view %d of %d", errValue, int32(view), len(final))
			}
			tables := final[view].Values
			if n = len(tables); dst != nil && int64(room) >= int64(n) {
				copy(unsafe.Slice((*uint32)(dst), n), tables)
			}
			return nil
		})
		return n, err
	})
}

// restOf calls f with what is left to do on a view of the current batch of a run.
func restOf(handle int64, view int32, f func(*reader.Rest)) error {
	r, err := lookup[*running](handle)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.batch == nil || view < 0 || int(view) >= len(r.batch.Rest) {
		return fmt.Errorf("%w: nothing is left to do on view %d", errValue, view)
	}
	f(&r.batch.Rest[view])
	return nil
}

// dsconv_rest describes what is left to do on a view of the current batch of a run, and copies the flips, a byte for
// each image, to flips if room, the bytes that flips has space for, is enough. It returns NULL, or an error as
// dsconv_call does.
//
//export dsconv_rest
func dsconv_rest(handle C.int64_t, view C.int32_t, flips *C.uint8_t, room C.int64_t, out *C.dsconv_rest_t) *C.char {
	return succeeded(func() error {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the rest is NULL", errValue)
		}
		return restOf(int64(handle), int32(view), func(r *reader.Rest) {
			*out = C.dsconv_rest_t{images: C.int64_t(len(r.Flips)), erasures: C.int64_t(len(r.Erasures)), values: C.int64_t(valuesOf(r))}
			if m := r.Mixing; m != nil {
				out.mixing, out.share, out.other = C.DSCONV_BLEND, C.float(m.Share), C.float(1-m.Share)
				if m.Cut {
					out.mixing = C.DSCONV_CUT
				}
				p := m.Region
				out.x, out.y, out.w, out.h = C.int32_t(p.X), C.int32_t(p.Y), C.int32_t(p.W), C.int32_t(p.H)
			}
			if flips != nil && int64(room) >= int64(len(r.Flips)) {
				copy(unsafe.Slice((*uint8)(flips), len(r.Flips)), r.Flips)
			}
		})
	})
}

// valuesOf is the number of values of all erasures.
func valuesOf(r *reader.Rest) (n int) {
	for i := range r.Erasures {
		n += len(r.Erasures[i].Values)
	}
	return n
}

// dsconv_erasures copies the erasures of a view of the current batch of a run, and their values, to memory that has
// space for n and m of them. It returns the number of erasures; -1 if there is no such view, or not enough space.
//
//export dsconv_erasures
func dsconv_erasures(
	handle C.int64_t, view C.int32_t, erasures *C.dsconv_erasure_t, n C.int64_t, values *C.float, m C.int64_t,
) C.int64_t {
	return counted(func() (count int, err error) {
		failed := restOf(int64(handle), int32(view), func(r *reader.Rest) {
			count = len(r.Erasures)
			if count == 0 {
				return
			}
			all := valuesOf(r)
			if erasures == nil || values == nil || int64(n) < int64(count) || int64(m) < int64(all) {
				err = fmt.Errorf("%w: space for %d erasures and %d values", errValue, int64(n), int64(m))
				return
			}
			copyErasures(unsafe.Slice(erasures, count), unsafe.Slice((*float32)(values), all), r)
		})
		if failed != nil {
			err = failed
		}
		return count, err
	})
}

func copyErasures(to []C.dsconv_erasure_t, values []float32, r *reader.Rest) {
	at := 0
	for i := range r.Erasures {
		e := &r.Erasures[i]
		p := e.Region
		to[i] = C.dsconv_erasure_t{
			image: C.int64_t(e.Image), at: C.int64_t(at),
			x: C.int32_t(p.X), y: C.int32_t(p.Y), w: C.int32_t(p.W), h: C.int32_t(p.H),
		}
		if e.Noise {
			to[i].noise = 1
		}
		at += copy(values[at:], e.Values)
	}
}
