package synth

import "math"

// maxClasses is the number of distinct classes: a shape, a pattern on it, and from the
// 85th class on an emblem, which is a plain smaller shape in the middle.
const maxClasses = len(shapes) * len(patterns) * (1 + len(shapes))

// class is what the label names: nothing else in an image depends on it.
type class struct {
	shape   shape
	pattern pattern
	emblem  *shape // nil: none
}

// classOf returns class c. The numbers of shapes and patterns share no divisor, so
// neighbouring classes differ in both, and no pair comes twice before all have come
// (the Chinese remainder theorem).
func classOf(c int) *class {
	k := &class{shape: shapes[c%len(shapes)], pattern: patterns[c%len(patterns)]}
	if e := c / (len(shapes) * len(patterns)); e > 0 {
		k.emblem = &shapes[e-1]
	}
	return k
}

// distance is the signed distance to the silhouette, to which an emblem in a hole of
// the shape belongs, and that to the emblem, infinite without one.
func (c *class) distance(u, v float32) (whole, emblem float32) {
	const size = 0.42
	whole, emblem = c.shape.distance(u, v), float32(math.Inf(1))
	if c.emblem != nil {
		emblem = size * c.emblem.distance(u/size, v/size)
	}
	return min(whole, emblem), emblem
}

// String is the class's folder, such as "banded_disc" or "banded_disc_with_star".
func (c *class) String() string {
	name := c.pattern.name + "_" + c.shape.name
	if c.emblem != nil {
		name += "_with_" + c.emblem.name
	}
	return name
}
