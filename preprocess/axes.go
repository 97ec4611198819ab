package preprocess

import "slices"

const (
	// maxAxes bounds the number of axes in a cache. Random crops of one output size need an
	// entry for each side length, of some 4 KB.
	maxCachedAxes = 512
	// maxAxesBytes bounds their memory: an entry is as large as its image is wide.
	maxCacheBytes = 16 << 20
	// wholeAxis is the longest output that coefficients are always made for as a whole, so
	// that crops at different places share them.
	maxWholeAxis = 8192
)

// axes caches coefficients. The zero value is ready.
type coefficientCache struct {
	entries map[axis]*coefficients
	order   []axis // of known, in a ring
	oldest  int    // in order: to be forgotten
	bytes   int    // that those in known hold
	inUse   *coefficients
}

// get gives coefficients that are valid until the get after the next.
func (x *coefficientCache) get(a axis) *coefficients {
	c := x.entries[a]
	if c == nil {
		c = x.add(a)
	}
	x.inUse = c
	return c
}

// add takes the memory of those that are forgotten.
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
		return c // of one image; the collector takes it
	}
	for x.bytes+size > maxCacheBytes {
		x.evict()
	}
	x.insert(a)
	x.entries[a] = c
	x.bytes += size
	return c
}

// insert makes a the axis that is forgotten last.
func (x *coefficientCache) insert(a axis) {
	x.order = slices.Insert(x.order, x.oldest, a)
	x.oldest = (x.oldest + 1) % len(x.order)
}

// forget drops the oldest axis that is not in use and gives its memory.
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
