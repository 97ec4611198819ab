//go:build cgo

package pixelops

/*
#cgo CFLAGS: -O3 -Wall
#include <stdint.h>
*/
import "C"

import "unsafe"

func pixelPointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }
