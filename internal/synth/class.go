package synth

import "math"

// shapeReach is more than the distance of any shape's point from the origin.
const shapeReach = 1.4

// shapes are silhouettes, symmetric to the y axis: about the distance to the edge, negative inside,
// over coordinates in which all shapes cover about the same area; y points down.
var shapes = [...]struct {
	name     string
	distance func(x, y float32) float32
}{
	{"disc", func(x, y float32) float32 { return hypot(x, y) - 0.95 }},
	{"cross", func(x, y float32) float32 { return max(min(abs(x), abs(y))-0.38, max(abs(x), abs(y))-1.1) }},
	{"triangle", func(x, y float32) float32 { return max(abs(x)*0.8660254-(y+0.06)*0.5, y+0.06) - 0.66 }},
	{"ring", func(x, y float32) float32 { return abs(hypot(x, y)-0.82) - 0.3 }},
	{"square", func(x, y float32) float32 { return max(abs(x), abs(y)) - 0.84 }},
	{"star", func(x, y float32) float32 { return 0.7 * (hypot(x, y) - 0.85 - 0.35*rays(x, y, 5)) }},
	{"pill", func(x, y float32) float32 { return hypot(x, y-min(max(y, -0.62), 0.62)) - 0.55 }},
	{"heart", func(x, y float32) float32 { // a square on its point, and a disc on each of its upper sides
		return min(hypot(abs(x)-0.5, y+0.4)-0.55, max(abs(x)+y-0.878, abs(x)-y-0.9)*math.Sqrt2/2)
	}},
	{"diamond", func(x, y float32) float32 { return (abs(x) + abs(y) - 1.2) * math.Sqrt2 / 2 }},
	{"bar", func(x, y float32) float32 { return max(abs(x)-1.25, abs(y)-0.5) }},
}

// patterns have two tones and are symmetric to the y axis: positive on one half
// of a large area and negative on the other, so that no pattern
// shows more of one tone than another does. Their period is 1 in x and y.
var patterns = [...]struct {
	name string
	wave func(x, y float32) float32
}{
	{"banded", func(_, y float32) float32 { return triangleWave(y) }},
	{"barred", func(x, _ float32) float32 { return triangleWave(x) }},
	{"checked", func(x, y float32) float32 { return triangleWave(x*0.75) * triangleWave(y*0.75+0.25) * 2 }},
	{"ringed", func(x, y float32) float32 { return triangleWave(hypot(x, y)) }},
	{"rayed", func(x, y float32) float32 { return rays(x, y, 6) }},
	{"argyle", func(x, y float32) float32 { return (triangleWave(x*0.6) + triangleWave(y*0.6)) * 0.8 }},
	{"zigzag", func(x, y float32) float32 { return triangleWave(y + 0.5*triangleWave(x*0.6)) }},
}

// maxClasses is the number of distinct classes. The numbers of shapes and patterns share no divisor, so
// neighbouring classes differ in both, and no pair comes twice before all have come
// (the Chinese remainder theorem).
const maxClasses = len(shapes) * len(patterns)

// className is the folder of class c, such as "banded_disc".
func className(c int) string {
	return patterns[c%len(patterns)].name + "_" + shapes[c%len(shapes)].name
}

// triangleWave is 1 at whole numbers and -1 midway between them.
func triangleWave(t float32) float32 {
	t -= float32(math.Floor(float64(t)))
	return abs(4*t-2) - 1
}

// rays is 1 on n rays from the origin, one of them up, and -1 midway between them.
func rays(x, y, n float32) float32 {
	return triangleWave(n * float32(math.Atan2(float64(abs(x)), float64(-y))/(2*math.Pi)))
}

func hypot(x, y float32) float32 { return sqrt(x*x + y*y) }

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
