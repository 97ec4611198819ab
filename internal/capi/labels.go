//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// dsconv_labels writes the labels of the loader's samples in key order to dst, which has exactly size bytes:
// class indices, int64, -1 for a missing label; float32 and NaN where labels are numbers; or where they are
// multi-hot a row of uint8 with one for each class. It returns NULL, or an error as dsconv_call does.
//
//export dsconv_labels
func dsconv_labels(handle C.int64_t, dst unsafe.Pointer, size C.int64_t) *C.char {
	return succeeded(func() error {
		return withLoader(int64(handle), func(l *loader) error {
			data, err := l.allLabels()
			if err != nil {
				return err
			}
			if dst == nil || int64(size) != int64(len(data)) {
				return fmt.Errorf("%w: %d bytes at %t for labels of %d", errValue, int64(size), dst != nil, len(data))
			}
			copy(unsafe.Slice((*byte)(dst), len(data)), data)
			return nil
		})
	})
}

// allLabels are the bytes of all labels.
func (l *loader) allLabels() ([]byte, error) {
	if l.Frame().Label == formats.Float32 {
		numbers, err := l.Numbers(context.Background())
		return bytesOf(numbers), err
	}
	if l.Frame().Columns > 0 {
		return l.MultiHot(context.Background())
	}
	data, _, _, err := l.Labels()
	return data, err
}
