package synth

import "math"

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
