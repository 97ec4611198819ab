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
// is no such loader. It writes the indices in the split of the first ones to dst and their positions to
// positions, as many as there is room for, unless one of them is NULL. Entry i of batch k is at k*batch+i,
// and the batches from batch k on are those from position+k*batch*world_size on. The index i of padding,
// which should not be counted, is written as -1-i.
//
//export dsconv_order
func dsconv_order(handle, epoch, position C.int64_t, dst *C.int32_t, positions *C.int64_t, room C.int64_t) C.int64_t {
	return counted(func() (n int, err error) {
		return n, withLoader(int64(handle), func(l *loader) error {
			if position < 0 {
				return fmt.Errorf("%w: position %d", errValue, int64(position))
			}
			if n = l.Entries(int(position)); dst == nil || positions == nil || room <= 0 {
				return nil
			}
			i, room := 0, min(n, int(room))
			to, at := unsafe.Slice((*int32)(dst), room), unsafe.Slice((*int64)(positions), room)
			for e := range l.Order(int(epoch), int(position)) {
				if i == room {
					break
				}
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
