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
