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

// dsconv_order returns how many samples this rank takes from a position of an epoch on; -1 if there
// is no such loader. It writes their indices in the split to dst and their positions to positions,
// unless one of them is NULL or room, the space for them, is less. Entry i of batch k is at
// k*batch+i. The index i of padding, which should not be counted, is written as -1-i.
//
//export dsconv_order
func dsconv_order(handle, epoch, position C.int64_t, dst *C.int32_t, positions *C.int64_t, room C.int64_t) C.int64_t {
	return counted(func() (n int, err error) {
		return n, withLoader(int64(handle), func(l *loader) error {
			if position < 0 {
				return fmt.Errorf("%w: position %d", errValue, int64(position))
			}
			if n = l.Entries(int(position)); dst == nil || positions == nil || int(room) < n {
				return nil
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
			return nil
		})
	})
}
