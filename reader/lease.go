package reader

import (
	"runtime"
	"slices"
	"sync"
)

// lease is the right of a Batch that an epoch gave to the memory that it shares with the Loader. Each
// step has a Batch and a lease of its own, so that one that is over cannot reach the memory, which
// another batch may have by then.
type lease struct {
	mu     sync.Mutex
	state  leaseState
	loader *Loader
	memory *Batch // what the workers filled
	lent   bool   // the images lie in memory of an Allocator

	forgotten runtime.Cleanup // frees the device's memory of a batch that was taken before Stop
}

type leaseState string

const (
	inLoop leaseState = ""
	kept   leaseState = "kept"
	over   leaseState = "over"
)

// hand makes the Batch that the loop gets.
func (l *Loader) hand(memory *Batch, lent bool) *Batch {
	b := *memory
	if b.device != nil {
		b.images, b.behind = nil, 0 // the host has some of them, and not finished
	}
	b.Fields, b.others = slices.Clone(b.Fields), slices.Clone(b.others)
	b.lease = &lease{loader: l, memory: memory, lent: lent}
	if b.device != nil {
		b.lease.forgotten = runtime.AddCleanup(&b, deviceMemory.Release, b.device) // a second release does nothing
	}
	return &b
}

// Keep keeps the batch valid until Release. Call it in the loop's body, as often as you like. Each
// batch that is kept takes memory of its own. It panics if the batch is no longer valid.
func (b *Batch) Keep() {
	if b.lease == nil {
		return // it is the caller's
	}
	b.lease.mu.Lock()
	defer b.lease.mu.Unlock()
	b.lease.check("Keep")
	b.lease.state = kept
}

// Release gives back a batch that was kept, which is not valid from then on. Releasing a batch again,
// or one that was not kept, does nothing. A Run may have been stopped, and the Loader closed, before.
func (b *Batch) Release() {
	if b.lease == nil {
		return
	}
	b.lease.mu.Lock()
	defer b.lease.mu.Unlock()
	if b.lease.state != kept {
		return
	}
	b.end()
	b.lease.loader.releaseBatch(b.lease.memory, b.lease.lent)
}

// Clone copies the batch with all that it refers to. The copy is the caller's and stays valid for
// ever. It panics if the batch is no longer valid, or if its images lie on a device.
func (b *Batch) Clone() *Batch {
	if b.lease != nil {
		b.lease.mu.Lock() // nobody writes to the memory until it is copied
		defer b.lease.mu.Unlock()
		b.lease.check("Clone")
	}
	if b.device != nil {
		panic("reader: Clone of a batch whose images lie on a device: Keep it, or copy them there")
	}
	c := *b
	c.lease = nil
	c.images, c.labels = cloneAligned(b.allImages())[:len(b.images)], cloneAligned(b.labels)
	c.others = slices.Clone(b.others)
	c.MultiHot, c.Soft = slices.Clone(b.MultiHot), slices.Clone(b.Soft)
	c.Indices, c.Samples = slices.Clone(b.Indices), slices.Clone(b.Samples)
	c.Fields = slices.Clone(b.Fields)
	for k := range c.Fields {
		c.Fields[k].copyValues()
	}
	c.copyRest()
	return &c
}

// memory is the batch's images and labels. It panics if they are not its own any more.
func (b *Batch) memory(call string) (images, labels []byte) {
	if b.lease != nil {
		b.lease.mu.Lock()
		defer b.lease.mu.Unlock()
		b.lease.check(call)
	}
	return b.images, b.labels
}

// TakeImages takes the images' memory out of the batch and gives it to the caller. The batch has no
// images from then on. Of several views it is the memory of all, in which each begins at the Offset of
// its ViewFrame. It panics if the batch is no longer valid.
func (b *Batch) TakeImages() []byte {
	_, _ = b.memory("TakeImages")
	images := b.allImages()
	b.images = nil
	if b.lease != nil {
		b.lease.memory.images = nil
	}
	return images
}

// giveBack ends the batch at the end of the loop's body. It returns false if the memory is not the
// run's any more: the batch is kept, or was released, which put the memory into the pool.
func (b *Batch) giveBack() (free bool) {
	b.lease.mu.Lock()
	defer b.lease.mu.Unlock()
	if b.lease.state != inLoop {
		return false
	}
	b.end()
	return true
}

// end takes the memory from b. b.lease.mu is locked.
func (b *Batch) end() {
	b.lease.state = over
	b.device = nil
	b.lease.memory.freeDevice()
	b.images, b.labels, b.MultiHot, b.Soft, b.Fields, b.Indices, b.Samples, b.Rest = nil, nil, nil, nil, nil, nil, nil, nil
}

// check panics, with the mutex unlocked, if the lease is over.
func (l *lease) check(call string) {
	if l.state == over {
		panic("reader: " + call + " of a batch that is no longer valid: call it in the loop's body, or before Release")
	}
}

func cloneAligned(b []byte) []byte {
	if b == nil {
		return nil
	}
	c := aligned(nil, len(b))
	copy(c, b)
	return c
}
