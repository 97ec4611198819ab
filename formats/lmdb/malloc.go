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

// keepHeap lets the C heap keep the pages of one transaction for the next. LMDB takes them
// from malloc and frees them at each commit; by default glibc gives them back to the kernel,
// which zeroes them anew: half of all page faults of a pack. It is once a process, and holds
// up to 64 MiB.
var keepHeapPages = sync.OnceFunc(func() { C.dsconv_keep_heap() })
