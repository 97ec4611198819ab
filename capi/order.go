//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// dsconv_order writes the samples that this rank takes from a position of an epoch on, numbered
// in order of key, to dst, and their positions to positions, unless they are NULL or have no room
// for so many, and gives how many there are; -1 if there is no such loader. Entry i of batch k is
// number k*batch_size+i. Padding, a sample that should not be counted, is written as -1 less its
// number.
//
//export dsconv_order
func dsconv_order(handle, epoch, position C.int64_t, dst *C.int32_t, positions *C.int64_t, room C.int64_t) C.int64_t {
	return counted(func() (int, error) {
		l, leave, err := enter(int64(handle))
		if err != nil {
			return 0, err
		}
		defer leave()
		if position < 0 {
			return 0, fmt.Errorf("%w: position %d", errValue, int64(position))
		}
		n := l.Entries(int(position))
		if dst == nil || positions == nil || int(room) < n {
			return n, nil
		}
		i := 0
		to, at := unsafe.Slice((*int32)(dst), n), unsafe.Slice((*int64)(positions), n)
		for e := range l.Order(int(epoch), int(position)) {
			to[i], at[i] = int32(e.Sample), int64(e.Position)
			if e.Padding {
				to[i] = -1 - to[i]
			}
			i++
		}
		return n, nil
	})
}
