package resample

import "slices"

const (
	// maxCachedAxes limits the entries of a cache. Random crops of one output size need an
	// entry for each side length, of about 4 KB.
	maxCachedAxes = 512
	// maxCacheBytes limits their memory: an entry grows with the side of its image.
	maxCacheBytes = 16 << 20
	// maxWholeAxis is the longest output whose coefficients are always computed for the whole
	// axis, so that crops at different positions share them.
	maxWholeAxis = 8192
)

// coefficientCache keeps the coefficients of recent axes. The zero value is ready.
type coefficientCache struct {
	entries map[axis]*coefficients
	order   []axis // of entries, as a ring
	oldest  int    // position in order of the entry to evict next
	bytes   int    // that the entries hold
	inUse   *coefficients
}

// get returns the coefficients of a. They are valid until the call of get after the next.
func (x *coefficientCache) get(a axis) *coefficients {
	c := x.entries[a]
	if c == nil {
		c = x.add(a)
	}
	x.inUse = c
	return c
}

// add computes the coefficients of a, in the memory of an evicted entry if the cache is full.
func (x *coefficientCache) add(a axis) *coefficients {
	if x.entries == nil {
		x.entries = make(map[axis]*coefficients, maxCachedAxes)
	}
	c := new(coefficients)
	if len(x.order) == maxCachedAxes {
		c = x.evict()
	}
	c.compute(a)
	size := c.bytes()
	if size > maxCacheBytes/2 {
		return c // for one image, then garbage-collected
	}
	for x.bytes+size > maxCacheBytes {
		x.evict()
	}
	x.insert(a)
	x.entries[a] = c
	x.bytes += size
	return c
}

// insert makes a the axis that is evicted last.
func (x *coefficientCache) insert(a axis) {
	x.order = slices.Insert(x.order, x.oldest, a)
	x.oldest = (x.oldest + 1) % len(x.order)
}

// evict removes the oldest entry that is not in use and returns its memory.
func (x *coefficientCache) evict() *coefficients {
	if x.entries[x.order[x.oldest]] == x.inUse && len(x.order) > 1 {
		x.oldest = (x.oldest + 1) % len(x.order)
	}
	a := x.order[x.oldest]
	c := x.entries[a]
	delete(x.entries, a)
	x.order = slices.Delete(x.order, x.oldest, x.oldest+1)
	if x.oldest == len(x.order) {
		x.oldest = 0
	}
	x.bytes -= c.bytes()
	return c
}
