//go:build cgo

package main

/*
#include "labels.h"
*/
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
)

// lent is memory that C reads, behind a handle.
type lent struct {
	data    []byte
	release func()
	pinned  runtime.Pinner // if it is Go's
}

func (p *lent) drop() {
	p.pinned.Unpin()
	p.release()
}

// dsconv_labels lends the labels of the loader's samples in key order: class indices, int64, -1 for a
// missing label; float32 and NaN where labels are numbers; or where they are multi-hot a row of uint8,
// stride of them, one for each class. The memory is only read. It stays until
// dsconv_drop closes its handle, also if the loader is closed before. It returns NULL, or an error as
// dsconv_call does.
//
//export dsconv_labels
func dsconv_labels(handle C.int64_t, out *C.dsconv_labels_t) *C.char {
	return succeeded(func() error {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the labels is NULL", errValue)
		}
		return withLoader(int64(handle), func(l *loader) error {
			p, stride, err := l.lendLabels()
			if err != nil {
				return err
			}
			at := unsafe.Pointer(unsafe.SliceData(p.data))
			p.pinned.Pin(at)
			kept, err := handles.add(p)
			if err != nil {
				p.drop()
				return err
			}
			out.data, out.n, out.stride, out.handle = at, C.int64_t(l.Samples()), C.int64_t(stride), C.int64_t(kept)
			return nil
		})
	})
}

// lendLabels returns the labels, and the distance of one from the next in bytes.
func (l *loader) lendLabels() (p *lent, stride int, err error) {
	p = &lent{release: func() {}}
	if l.Frame().Label == formats.Float32 {
		numbers, err := l.Numbers(context.Background())
		p.data = bytesOf(numbers)
		return p, 4, err
	}
	if k := l.Frame().Columns; k > 0 {
		p.data, err = l.MultiHot(context.Background())
		return p, k, err
	}
	p.data, stride, p.release, err = l.Labels()
	return p, stride, err
}
