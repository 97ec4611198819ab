//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/reader"
)

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
