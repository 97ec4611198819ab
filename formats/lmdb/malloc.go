//go:build cgo

package lmdb

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void dsconv_keep_heap(void) {
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
*/
import "C"

import "sync"

// keepHeapPages lets the C heap keep the pages of one transaction for the next. LMDB allocates
// them with malloc and frees them at each commit; by default glibc returns them to the kernel,
// which zeroes them again: half of all page faults of a pack. It applies once to the whole
// process, which then keeps up to 64 MiB.
var keepHeapPages = sync.OnceFunc(func() { C.dsconv_keep_heap() })
