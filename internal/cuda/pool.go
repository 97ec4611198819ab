//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"
)

// Pool lends blocks of the GPU's memory, all of one size. Unlike other memory a block may be released by C code on
// any thread, after the pool and the Device were closed, and while the process ends.
type Pool struct {
	device *Device
	size   int
	lock   sync.Mutex
	c      *C.dsconv_cuda_pool // nil once closed
}

// NewPool creates a pool of blocks of size bytes. Close it.
func (d *Device) NewPool(size int) (*Pool, error) {
	if size < 1 {
		return nil, errSize
	}
	p := &Pool{device: d, size: size}
	//nolint:gocritic // what cgo generates for &p.c looks like comparing a value with itself
	if err := d.driver.check(C.dsconv_cuda_pool_new(d.c, C.size_t(size), &p.c), "create a pool of the GPU's memory"); err != nil {
		return nil, err
	}
	return p, nil
}

// Take lends the block that was released first, or a new one if none is free. Work that stream, a CUstream, gets from
// now on may write to it. Release it.
func (p *Pool) Take(stream uintptr) (*Block, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.c == nil {
		return nil, errors.New("CUDA: the pool is closed")
	}
	b := &Block{}
	//nolint:gocritic // what cgo generates for &b.c looks like comparing a value with itself
	code := C.dsconv_cuda_pool_take(p.c, C.uintptr_t(stream), &b.c)
	if err := p.device.driver.check(code, "allocate %d bytes of the GPU's memory", p.size); err != nil {
		return nil, err
	}
	return b, nil
}

// Close frees the blocks that are not lent; the others are freed when they are released. It may be called twice.
func (p *Pool) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.c != nil {
		C.dsconv_cuda_pool_close(p.c)
		p.c = nil
	}
}

// Block is memory of a Pool. Release it once, by its method or by C code.
type Block struct{ c *C.dsconv_cuda_block }

// Address is where the memory is.
func (b *Block) Address() Address { return Address(b.c.address) }

// Release gives the block back. Nothing may use it any more.
func (b *Block) Release() { C.dsconv_cuda_block_release(b.c) }

// C is the block's dsconv_cuda_block (driver.h). It is freed at some time after it was released.
func (b *Block) C() unsafe.Pointer { return unsafe.Pointer(b.c) }
