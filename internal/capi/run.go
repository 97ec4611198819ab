//go:build cgo

package main

/*
#include "batch.h"
#include <stdint.h>
#include "device.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/reader"
)

// running is an epoch that is being loaded.
type running struct {
	mu     sync.Mutex
	loader *loader
	blocks blocks
	run    *reader.Run
	batch  *reader.Batch
	leave  func() // leaves the loader
}

func (r *running) current() (*reader.Batch, []part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batch, r.loader.parts
}

// dsconv_start starts an epoch at a position: in the loader's order, or, if list is not NULL, of the n
// samples whose indices it has. Then sizes, if it is not NULL, are the sizes of the list's batches, as a
// batch_sampler of torch gives them: from 1 to the loader's batch size, with the sum n; position must be where
// one of them begins, or n. lent are count blocks, as many as the loader has slots, each of its block_size; none where
// a GPU decodes.
// *out becomes a handle of the run, which dsconv_stop closes. It returns NULL, or an error as dsconv_call
// does.
//
//export dsconv_start
func dsconv_start(
	handle C.int64_t, epoch, position C.int64_t, list *C.int32_t, n C.int64_t, sizes *C.int32_t, batches C.int64_t,
	lent *unsafe.Pointer, count C.int32_t, out *C.int64_t,
) *C.char {
	return succeeded(func() error {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the handle is NULL", errValue)
		}
		blocks, err := slice(lent, C.int64_t(count))
		if err != nil {
			return err
		}
		o := reader.RunOptions{Epoch: int(epoch), Position: int(position)}
		if o.List, err = copied(list, n); err != nil {
			return err
		}
		if o.Sizes, err = copied(sizes, batches); err != nil {
			return err
		}
		run, err := start(int64(handle), o, blocks)
		*out = C.int64_t(run)
		return err
	})
}

// copied is a copy of the n numbers at list; nil if list is NULL.
func copied(list *C.int32_t, n C.int64_t) ([]int32, error) {
	if list == nil {
		return nil, nil
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("%w: a list of %d numbers", errValue, int64(n))
	}
	return clone[int32](unsafe.Pointer(list), n)
}

// start starts an epoch, in the loader's order if o has no list, and returns its handle.
func start(handle int64, o reader.RunOptions, lent []unsafe.Pointer) (run int64, err error) {
	l, leave, err := enter(handle)
	if err != nil {
		return 0, err
	}
	r := &running{loader: l, leave: leave, blocks: blocks{size: l.MemorySize(), used: map[unsafe.Pointer]bool{}}}
	defer func() {
		if run != 0 {
			return
		}
		if r.run != nil {
			r.run.Stop()
		}
		leave()
	}()
	for _, b := range lent {
		if b == nil {
			return 0, fmt.Errorf("%w: a block is NULL", errValue)
		}
		r.blocks.lend(b)
	}
	o.Allocate = r.blocks.get
	if o.List == nil {
		o.State, o.Epoch, o.Position = l.StateAt(o.Epoch, o.Position), 0, 0
	}
	r.run, err = l.StartWith(context.Background(), o)
	if err != nil {
		return 0, err
	}
	return l.keep(r)
}

// keep returns a handle for a run, unless the loader is being closed.
func (l *loader) keep(r *running) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs == nil {
		return 0, fmt.Errorf("loader: %w", errClosed)
	}
	run, err := handles.add(r)
	if err == nil {
		l.runs[run] = r
	}
	return run, err
}

// What dsconv_next returns.
const (
	nextBatch = iota // there is a batch
	nextLater        // none was ready in time
	nextEnd          // the epoch has ended
	nextError        // *failed is the error, which dsconv_free frees
)

// dsconv_next waits for the next batch, at most the given milliseconds. block is lent in place of the
// block of the last batch; it is NULL for the first batch and after nextLater.
//
//export dsconv_next
func dsconv_next(handle C.int64_t, block unsafe.Pointer, milliseconds C.int32_t, out *C.dsconv_batch, failed **C.char) C.int32_t {
	what := C.int32_t(nextError)
	err := guard.Do(func() (err error) {
		r, err := lookup[*running](int64(handle))
		if err != nil {
			return err
		}
		if out == nil {
			return fmt.Errorf("%w: the pointer for the batch is NULL", errValue)
		}
		what, err = r.next(block, time.Duration(milliseconds)*time.Millisecond, out)
		return err
	})
	if err != nil {
		if failed != nil {
			*failed = reply(nil, err)
		}
		return nextError
	}
	return what
}

// next is dsconv_next.
func (r *running) next(block unsafe.Pointer, wait time.Duration, out *C.dsconv_batch) (C.int32_t, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == nil {
		return nextError, errClosed
	}
	if block != nil {
		r.blocks.lend(block)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	r.batch = nil // it ends now
	b, err := r.run.Next(ctx)
	switch {
	case err == nil:
		return r.hand(b, out)
	case errors.Is(err, io.EOF):
		return nextEnd, nil
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		return nextLater, nil
	}
	return nextError, err
}

// hand gives the caller its block back, with a batch's images.
func (r *running) hand(b *reader.Batch, out *C.dsconv_batch) (C.int32_t, error) {
	r.batch = b
	images := b.TakeImages()
	if b.Device() == nil && !r.blocks.giveBack(images) {
		return nextError, errors.New("no block was lent for a batch")
	}
	out.images = unsafe.Pointer(unsafe.SliceData(images))
	out.n, out.end = C.int64_t(b.N), C.int64_t(b.End)
	out.skipped, out.substituted = C.int64_t(b.Skipped), C.int64_t(b.Substituted)
	return nextBatch, nil
}

// dsconv_stop ends a run, if it has not ended, and waits for its threads. All blocks that were lent
// to it are then the caller's again.
//
//export dsconv_stop
func dsconv_stop(handle C.int64_t) {
	_ = guard.Do(func() error { // a closed handle is no error
		r, err := lookup[*running](int64(handle))
		if err == nil {
			r.end(int64(handle))
		}
		return err
	})
}

// end stops the run, unless that was done, and waits for its goroutines. The handle stays until they
// are gone, so that others who end the run wait, too.
func (r *running) end(handle int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == nil {
		return
	}
	r.run.Stop()
	if r.batch != nil {
		r.batch.TakeDevice().Release()
	}
	r.run, r.batch = nil, nil
	handles.remove(handle)
	r.loader.mu.Lock()
	delete(r.loader.runs, handle)
	r.loader.mu.Unlock()
	r.leave()
}

// endRuns ends all runs of the loader. No more can start.
func (l *loader) endRuns() {
	l.mu.Lock()
	runs := l.runs
	l.runs = nil
	l.mu.Unlock()
	for handle, r := range runs {
		r.end(handle)
	}
}

// maxElements is more than any caller lends.
const maxElements = 1 << 40

// slice returns the n elements at p, which C has lent.
func slice[T any](p *T, n C.int64_t) ([]T, error) {
	if n < 0 || n > maxElements || p == nil && n > 0 {
		return nil, fmt.Errorf("%w: %d elements at %p", errValue, int64(n), p)
	}
	return unsafe.Slice(p, int(n)), nil
}

// blocks are memory of the caller that the images of a run's batches are written to. Only one
// goroutine at a time may use them.
type blocks struct {
	size int // bytes of each
	free []unsafe.Pointer
	used map[unsafe.Pointer]bool
}

// lend adds a block.
func (b *blocks) lend(block unsafe.Pointer) { b.free = append(b.free, block) }

// get is a reader.Allocator.
func (b *blocks) get(int) []byte {
	n := len(b.free)
	if n == 0 {
		return nil
	}
	block := b.free[n-1]
	b.free = b.free[:n-1]
	b.used[block] = true
	return unsafe.Slice((*byte)(block), b.size)
}

// giveBack ends the use of the block that images lie in and reports whether it was in use.
func (b *blocks) giveBack(images []byte) bool {
	block := unsafe.Pointer(unsafe.SliceData(images))
	ours := b.used[block]
	delete(b.used, block)
	return ours
}

// dsconv_device takes the memory of the images out of the current batch of a run and makes it a tensor, which is the
// caller's. stream is the CUDA stream that the caller reads it on until it calls the tensor's deleter: 0 is the
// default stream. The tensor is 1-dimensional: image i of the first view begins at element i times its size, those of
// other views at their "offset" in bytes. It returns NULL, or an error as dsconv_call does; there is one if the memory
// was taken before.
//
//export dsconv_device
func dsconv_device(handle C.int64_t, stream C.uint64_t, out *C.dsconv_device_t) *C.char {
	return succeeded(func() error {
		if out == nil {
			return fmt.Errorf("%w: the pointer for the tensor is NULL", errValue)
		}
		r, err := lookup[*running](int64(handle))
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.batch == nil || r.batch.Device() == nil {
			return fmt.Errorf("%w: the batch has no images on a device, or they were taken", errValue)
		}
		elements := int64(r.loader.MemorySize() / r.batch.DType.Size())
		tensor := r.batch.Device().DLPack(uintptr(stream))
		if tensor == 0 {
			return errors.New("no memory for a tensor's description")
		}
		_ = r.batch.TakeDevice() // it is the tensor's
		out.tensor, out.elements = *(*unsafe.Pointer)(unsafe.Pointer(&tensor)), C.int64_t(elements)
		return nil
	})
}
