//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"sync"

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

// dsconv_pick reads, decodes and transforms sample i of the loader's split, as it is in an epoch;
// where samples may come more than once there, as it is at a position, otherwise that is -1. *out is a handle of its parts, to be closed by dsconv_drop. It gives NULL, or an error as
// dsconv_call does.
//
//export dsconv_pick
func dsconv_pick(handle C.int64_t, i, epoch, position C.int64_t, out *C.int64_t) *C.char {
	return succeeded(func() error {
		l, leave, err := enter(int64(handle))
		if err != nil {
			return err
		}
		defer leave()
		return lendSingle(out, func(s *single) error {
			s.parts = l.parts
			if position < 0 {
				return l.Pick(int(i), int(epoch), &s.batch)
			}
			return l.PickAt(int(i), int(position), int(epoch), &s.batch)
		})
	})
}

// lendSingle makes *out a handle of a single that make has made.
func lendSingle(out *C.int64_t, make func(s *single) error) error {
	if out == nil {
		return fmt.Errorf("%w: no place for the handle", errValue)
	}
	s := singles.Get().(*single) // one whose making panics is nobody's any more
	err := make(s)
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

// dsconv_drop closes the handle of a single sample.
//
//export dsconv_drop
func dsconv_drop(handle C.int64_t) {
	if s, ok := take[*single](int64(handle)); ok {
		singles.Put(s)
	}
}

// dsconv_labels writes the labels of the loader's samples, in order of key, to dst, which has room
// for n. -1 stands for none. It gives NULL, or an error as dsconv_call does.
//
//export dsconv_labels
func dsconv_labels(handle C.int64_t, dst *C.int64_t, n C.int64_t) *C.char {
	return succeeded(func() error {
		l, leave, err := enter(int64(handle))
		if err != nil {
			return err
		}
		defer leave()
		labels, err := slice(dst, n)
		if err != nil {
			return err
		}
		for i := range min(l.Samples(), len(labels)) {
			in, err := l.InfoOf(i)
			if err != nil {
				return err
			}
			labels[i] = C.int64_t(in.Label)
		}
		return nil
	})
}
