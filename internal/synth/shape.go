package synth

import "math"

// shape is a silhouette, symmetric to the y axis: a signed distance (negative inside)
// over coordinates in which all shapes cover about the same area; y points down.
// The formulas follow Inigo Quilez, "2D distance functions".
type shape struct {
	name     string
	distance func(x, y float32) float32
}

// shapeReach is more than the distance of any shape's point from the origin.
const shapeReach = 1.4

var shapes = [...]shape{
	{"disc", func(x, y float32) float32 { return hypot(x, y) - 0.95 }},
	{"cross", func(x, y float32) float32 {
		x, y = abs(x), abs(y)
		return max(min(x, y)-0.38, max(x, y)-1.1)
	}},
	{"triangle", triangle},
	{"ring", func(x, y float32) float32 { return abs(hypot(x, y)-0.82) - 0.3 }},
	{"square", func(x, y float32) float32 { return max(abs(x), abs(y)) - 0.84 }},
	{"star", star},
	{"pill", func(x, y float32) float32 { return hypot(x, y-min(max(y, -0.62), 0.62)) - 0.55 }},
	{"heart", heart},
	{"diamond", func(x, y float32) float32 { return (abs(x) + abs(y) - 1.2) * math.Sqrt2 / 2 }},
	{"bar", func(x, y float32) float32 { return max(abs(x)-1.25, abs(y)-0.5) }},
	{"crescent", func(x, y float32) float32 { return max(hypot(x, y)-1.12, 0.78-hypot(x, y+0.62)) }},
	{"hexagon", func(x, y float32) float32 {
		x, y = abs(x), abs(y)
		return max(x*0.8660254+y*0.5, y) - 0.9
	}},
}

// triangle is equilateral and points up.
func triangle(x, y float32) float32 {
	return max(abs(x)*0.8660254-(y+0.06)*0.5, y+0.06) - 0.66
}

// star has five points, one of them up.
func star(x, y float32) float32 {
	const (
		r, inner = 1.3, 0.5
		c1, s1   = 0.80901699, 0.58778525
	)
	x, y = abs(x), -y
	d := max(c1*x-s1*y, 0)
	x, y = x-2*d*c1, y+2*d*s1
	d = max(-c1*x-s1*y, 0)
	x, y = abs(x+2*d*c1), y+2*d*s1-r
	bx, by := float32(inner*s1), float32(inner*c1-1)
	h := min(max((x*bx+y*by)/(bx*bx+by*by), 0), r)
	dist := hypot(x-bx*h, y-by*h)
	if y*bx < x*by {
		return -dist
	}
	return dist
}

// heart stands on its point.
func heart(x, y float32) float32 {
	const size = 1.75
	x, y = abs(x)/size, (0.9-y)/size
	if x+y > 1 {
		return size * (hypot(x-0.25, y-0.75) - 0.35355339)
	}
	m := 0.5 * max(x+y, 0)
	d := size * min(hypot(x, y-1), hypot(x-m, y-m))
	if x < y {
		return -d
	}
	return d
}

func hypot(x, y float32) float32 { return sqrt(x*x + y*y) }

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// pattern is a two-tone pattern, symmetric to the y axis: it is positive on one half
// of a large area and negative on the other, between -1 and 1, so that no pattern
// shows more of one tone than another does. Its period is 1 in x and y.
type pattern struct {
	name string
	wave func(x, y float32) float32
}

var patterns = [...]pattern{
	{"banded", func(_, y float32) float32 { return triangleWave(y) }},
	{"barred", func(x, _ float32) float32 { return triangleWave(x) }},
	{"checked", func(x, y float32) float32 { return triangleWave(x*0.75) * triangleWave(y*0.75+0.25) * 2 }},
	{"ringed", func(x, y float32) float32 { return triangleWave(hypot(x, y)) }},
	{"rayed", func(x, y float32) float32 {
		return triangleWave(float32(math.Atan2(float64(abs(x)), float64(-y))) * (3 / math.Pi))
	}},
	{"argyle", func(x, y float32) float32 { return (triangleWave(x*0.6) + triangleWave(y*0.6)) * 0.8 }},
	{"zigzag", func(x, y float32) float32 { return triangleWave(y + 0.5*triangleWave(x*0.6)) }},
}

// triangleWave is 1 at whole numbers and -1 midway between them.
func triangleWave(t float32) float32 {
	t -= float32(math.Floor(float64(t)))
	return abs(4*t-2) - 1
}

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
