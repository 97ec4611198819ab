//go:build cgo

package main

/*
#include "numbers.h"
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// numbers is a copy of an array of the caller, behind a handle: []int32 or []float64.
type numbers struct{ array any }

func (*numbers) drop() {}

// dsconv_numbers copies the n numbers at data, whose type kind is one of numbers.h. *out becomes a handle of the
// copy, by which open's "weights" (float64) and "samples" (int32) name it. dsconv_drop closes the handle; a
// loader that was opened with it goes on. It returns NULL, or an error as dsconv_call does.
//
//export dsconv_numbers
func dsconv_numbers(data unsafe.Pointer, n C.int64_t, kind C.int32_t, out *C.int64_t) *C.char {
	return succeeded(func() (err error) {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the handle is NULL", errValue)
		}
		if n > math.MaxInt32 {
			return fmt.Errorf("%w: an array of %d numbers", errValue, int64(n))
		}
		copied := new(numbers)
		switch kind {
		case C.DSCONV_INT32:
			copied.array, err = clone[int32](data, n)
		case C.DSCONV_FLOAT64:
			copied.array, err = clone[float64](data, n)
		default:
			err = fmt.Errorf("%w: numbers of kind %d: there are %d, int32, and %d, float64", errValue, int32(kind), C.DSCONV_INT32, C.DSCONV_FLOAT64)
		}
		if err != nil {
			return err
		}
		handle, err := handles.add(copied)
		*out = C.int64_t(handle)
		return err
	})
}

// clone copies the n numbers at data. The copy is not nil.
func clone[T any](data unsafe.Pointer, n C.int64_t) ([]T, error) {
	lent, err := slice((*T)(data), n)
	return append(make([]T, 0, len(lent)), lent...), err
}

// numbersOf returns the array behind a handle; nil if the handle is 0.
func numbersOf[T any](handle int64, name string) ([]T, error) {
	if handle == 0 {
		return nil, nil
	}
	n, err := lookup[*numbers](handle)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	array, ok := n.array.([]T)
	if !ok {
		return nil, fmt.Errorf("%w: %s: the handle's numbers are a %T and must be a %T", errValue, name, n.array, array)
	}
	return array, nil
}
