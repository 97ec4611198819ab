package cache

import (
	"errors"
	"fmt"
	"syscall"
)

// Reason is why a cache takes no more samples.
type Reason uint32

// The reasons.
const (
	NotFull  Reason = iota
	AtLimit         // a sample did not fit under the limit; a smaller one still may
	NoSpace         // the file system is full
	NoMemory        // the machine or the cgroup has no more memory
	Unusable        // the cache's file could not be read or written
)

var reasons = [...]string{"not full", "the limit is reached", "the file system is full", "no memory is left", "its file cannot be used"}

func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("Reason(%d)", uint32(r))
}

const (
	growth = 16 << 20  // the step in which the arena is backed by memory
	spare  = 256 << 20 // what is left of the memory for others
)

// stopped reports whether the arena can get no more memory.
func (c *Cache) stopped() bool {
	r := Reason(c.head.full.Load())
	return r == NoSpace || r == NoMemory
}

// mayFit reports whether a sample of that size may fit. It writes nothing shared, since a full cache
// is asked for every sample of every epoch.
func (c *Cache) mayFit(size int) bool {
	end := c.head.cursor.Load() + uint64(RecordSize(min(size, 2*maxLimit)))
	if end > c.end {
		c.head.full.CompareAndSwap(uint32(NotFull), uint32(AtLimit))
		return false
	}
	return end <= c.head.backed.Load() || !c.stopped()
}

// reserve allocates a record in the arena, backed by memory.
func (c *Cache) reserve(size int) (from uint64, ok bool) {
	for c.mayFit(size) {
		from := c.head.cursor.Load()
		to := from + uint64(RecordSize(size))
		if !c.holds(from, uint64(size)) {
			return 0, false
		}
		if to > c.head.backed.Load() && !c.grow(to) {
			return 0, false
		}
		if c.head.cursor.CompareAndSwap(from, to) {
			return from, true
		}
	}
	return 0, false
}

// grow backs the arena up at least to an offset, and reports whether it could.
func (c *Cache) grow(to uint64) bool {
	c.growing.Lock()
	defer c.growing.Unlock()
	backed := c.head.backed.Load()
	if to <= backed {
		return true
	}
	if c.stopped() || to > uint64(len(c.writable)) {
		return false
	}
	needed := align(to-backed, pageSize)
	if free, err := c.freeMemory(); err == nil && free < int64(needed)+spare {
		c.head.full.Store(uint32(NoMemory))
		return false
	}
	for step := uint64(growth); ; step /= 2 {
		n := min(max(step, needed), uint64(len(c.writable))-backed)
		err := allocate(c.file, int64(backed), int64(n))
		if err == nil {
			c.raise(backed + n)
			return true
		}
		// A signal interrupts and undoes a long allocation: with a profiler, it would never end.
		if n == needed && !errors.Is(err, syscall.EINTR) {
			c.head.full.Store(uint32(NoSpace))
			return false
		}
	}
}

// raise sets backed unless it is higher already.
func (c *Cache) raise(to uint64) {
	for {
		backed := c.head.backed.Load()
		if backed >= to || c.head.backed.CompareAndSwap(backed, to) {
			return
		}
	}
}
