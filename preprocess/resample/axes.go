package resample

import "slices"

const (
	// maxAxes bounds the number of axes in a cache. Random crops of one output size need an
	// entry for each side length, of some 4 KB.
	maxAxes = 512
	// maxAxesBytes bounds their memory: an entry is as large as its image is wide.
	maxAxesBytes = 16 << 20
	// wholeAxis is the longest output that coefficients are always made for as a whole, so
	// that crops at different places share them.
	wholeAxis = 8192
)

// axes caches coefficients. The zero value is ready.
type axes struct {
	known map[axis]*coefficients
	order []axis // of known, in a ring
	next  int    // in order: to be forgotten
	bytes int    // that those in known hold
	last  *coefficients
}

// get gives coefficients that are valid until the get after the next.
func (x *axes) get(a axis) *coefficients {
	c := x.known[a]
	if c == nil {
		c = x.add(a)
	}
	x.last = c
	return c
}

// add takes the memory of those that are forgotten.
func (x *axes) add(a axis) *coefficients {
	if x.known == nil {
		x.known = make(map[axis]*coefficients, maxAxes)
	}
	c := new(coefficients)
	if len(x.order) == maxAxes {
		c = x.forget()
	}
	c.set(a)
	size := c.bytes()
	if size > maxAxesBytes/2 {
		return c // of one image; the collector takes it
	}
	for x.bytes+size > maxAxesBytes {
		x.forget()
	}
	x.insert(a)
	x.known[a] = c
	x.bytes += size
	return c
}

// insert makes a the axis that is forgotten last.
func (x *axes) insert(a axis) {
	x.order = slices.Insert(x.order, x.next, a)
	x.next = (x.next + 1) % len(x.order)
}

// forget drops the oldest axis that is not in use and gives its memory.
func (x *axes) forget() *coefficients {
	if x.known[x.order[x.next]] == x.last && len(x.order) > 1 {
		x.next = (x.next + 1) % len(x.order)
	}
	a := x.order[x.next]
	c := x.known[a]
	delete(x.known, a)
	x.order = slices.Delete(x.order, x.next, x.next+1)
	if x.next == len(x.order) {
		x.next = 0
	}
	x.bytes -= c.bytes()
	return c
}
