//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/dsconv/dsconv/reader"
)

// single is a batch of one sample.
type single struct {
	batch reader.Batch
	parts []part
}

func (s *single) current() (*reader.Batch, []part) { return &s.batch, s.parts }

// singles are those that no handle stands for, with their memory.
var singles = sync.Pool{New: func() any { return new(single) }}

// dsconv_pick reads, decodes and transforms sample i of the loader's split, as it is in an epoch.
// *out is a handle of its parts, to be closed by dsconv_drop. It gives NULL, or an error as
// dsconv_call does.
//
//export dsconv_pick
func dsconv_pick(handle C.int64_t, i, epoch C.int64_t, out *C.int64_t) *C.char {
	l, leave, err := enter(int64(handle))
	if err != nil {
		return reply(nil, err)
	}
	defer leave()
	s := singles.Get().(*single)
	s.parts = l.parts
	if err := l.Pick(int(i), int(epoch), &s.batch); err != nil {
		singles.Put(s)
		return reply(nil, err)
	}
	return s.hand(out)
}

// hand makes *out a handle of s.
func (s *single) hand(out *C.int64_t) *C.char {
	handle, err := things.add(s)
	if err != nil {
		singles.Put(s)
		return reply(nil, err)
	}
	*out = C.int64_t(handle)
	return nil
}

// dsconv_drop closes the handle of a single sample.
//
//export dsconv_drop
func dsconv_drop(handle C.int64_t) {
	if s, err := of[*single](int64(handle)); err == nil {
		things.remove(int64(handle))
		singles.Put(s)
	}
}

// dsconv_labels writes the labels of the loader's samples, in order of key, to dst, which has room
// for n. -1 stands for none. It gives NULL, or an error as dsconv_call does.
//
//export dsconv_labels
func dsconv_labels(handle C.int64_t, dst *C.int64_t, n C.int64_t) *C.char {
	l, leave, err := enter(int64(handle))
	if err != nil {
		return reply(nil, err)
	}
	defer leave()
	labels := unsafe.Slice((*int64)(dst), int(n))
	for i := range min(l.Samples(), len(labels)) {
		in, err := l.InfoOf(i)
		if err != nil {
			return reply(nil, err)
		}
		labels[i] = in.Label
	}
	return nil
}
