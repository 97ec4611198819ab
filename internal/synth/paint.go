package synth

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"sync"
)

// rgb is a colour in display space, 0 to 1 in each channel.
type rgb [3]float32

// scene is all that is drawn at random for one image, and its class. Lengths are in pixels.
type scene struct {
	shape                 func(x, y float32) float32
	pattern               func(x, y float32) float32
	dark, bright          rgb  // the background's
	coarse, fine          view // which blends the two; which varies the brightness
	contrast, detail      float32
	x, y, radius          float32 // of the object
	cos, sin              float32 // it is rotated slightly
	frequency             float32 // periods of the pattern a radius
	shiftX, shiftY        float32 // of the pattern
	objectDark, objectLit rgb
	objectDetail          float32
	gain                  rgb     // exposure and white balance
	slopeX, slopeY        float32 // change of brightness from one side to the other
	grain                 float32 // deviation of the sensor noise at white
	grainStart            uint64
}

// newScene draws image i; its class is the only value that is not random.
func newScene(o Options, i int) *scene {
	r := rand.New(rand.NewPCG(o.Seed, uint64(i)))
	between := func(a, b float64) float64 { return a + (b-a)*r.Float64() }
	some := func(a, b float64) float32 { return float32(between(a, b)) }
	// A view is rotated little: the fields have no direction, and rows of pixels that follow rows of texels are kind to the cache.
	look := func(f *field, texels float64) view {
		sin, cos := math.Sincos(between(-0.4, 0.4))
		return view{f, between(0, fieldSide), between(0, fieldSide), texels * cos, texels * sin}
	}
	side := float64(min(o.Width, o.Height))
	hue, saturation, value := r.Float64(), between(0.05, 0.5), between(0.3, 0.85)
	exposure, warmth := between(0.75, 1.1), between(-0.12, 0.12)
	sin, cos := math.Sincos(between(-0.08, 0.08))
	class := i % o.Classes
	return &scene{
		shape: shapes[class%len(shapes)].distance, pattern: patterns[class%len(patterns)].wave,
		dark:     hsv(hue+between(-0.07, 0.07), saturation, value/2),
		bright:   hsv(hue+between(-0.07, 0.07), saturation*between(0.6, 1.2), min(value*1.3, 1)),
		coarse:   look(noise().smooth, between(40, 220)/side),
		fine:     look(noise().rough, between(0.45, 1)*between(0.9, 1.6)),
		contrast: some(0.12, 0.34), detail: float32(0.38 * math.Exp(0.45*r.NormFloat64())),
		x:      float32(float64(o.Width)/2 + between(-0.06, 0.06)*side),
		y:      float32(float64(o.Height)/2 + between(-0.05, 0.05)*side),
		radius: float32(side * between(0.32, 0.4)), cos: float32(cos), sin: float32(sin),
		frequency: some(1.2, 1.4), shiftX: some(-0.15, 0.15), shiftY: some(-0.15, 0.15),
		objectDark:   hsv(r.Float64(), between(0.1, 0.9), between(0.05, 0.25)),
		objectLit:    hsv(r.Float64(), between(0.05, 0.6), between(0.85, 1)),
		objectDetail: some(0.1, 0.25), // little: the pattern stays plain to see
		gain:         rgb{float32(exposure * (1 + warmth)), float32(exposure), float32(exposure * (1 - warmth))},
		slopeX:       some(-0.25, 0.25), slopeY: some(-0.25, 0.25),
		grain: some(0.0105, 0.0275), grainStart: r.Uint64(),
	}
}

// hsv gives a colour by hue (in turns), saturation and value.
func hsv(hue, saturation, value float64) (c rgb) {
	for i, offset := range []float64{1, 2. / 3, 1. / 3} {
		_, f := math.Modf(hue + offset + 1)
		ramp := min(max(math.Abs(f*6-3)-1, 0), 1)
		c[i] = float32(value * (1 - saturation*(1-ramp)))
	}
	return c
}

// painter draws scenes as images of one size; one a goroutine.
type painter struct {
	encoded      bytes.Buffer
	out          *image.RGBA
	coarse, fine []float32 // values of fields in one row
}

func newPainter(w, h int) *painter {
	return &painter{out: image.NewRGBA(image.Rect(0, 0, w, h)), coarse: make([]float32, w), fine: make([]float32, w)}
}

// paint draws s; the image is valid until the next call.
func (p *painter) paint(s *scene) *image.RGBA {
	w, h := p.out.Rect.Dx(), p.out.Rect.Dy()
	for y := range h {
		s.coarse.sample(p.coarse, float64(y))
		s.fine.sample(p.fine, float64(y))
		grain := s.grainStart + uint64(y)*0x9e3779b97f4a7c15>>20
		for x := range w {
			c := blend(s.dark, s.bright, clamp(0.5+s.contrast*p.coarse[x]))
			c = c.times(max(1+s.detail*p.fine[x], 0.1))
			if object, cover := s.object(float32(x), float32(y), p.fine[x]); cover > 0 {
				c = blend(c, object, cover)
			}
			c = c.times(1 + s.slopeX*(2*float32(x)/float32(w)-1) + s.slopeY*(2*float32(y)/float32(h)-1))
			s.develop(p.out.Pix[y*p.out.Stride+4*x:], c, grain+uint64(x))
		}
	}
	return p.out
}

// object is the object's colour at pixel (x, y) and how much of the pixel it covers: pattern, rounded edges and light from above.
func (s *scene) object(x, y, fine float32) (c rgb, cover float32) {
	dx, dy := (x-s.x)/s.radius, (y-s.y)/s.radius
	if dx*dx+dy*dy > shapeReach*shapeReach {
		return c, 0
	}
	u, v := dx*s.cos+dy*s.sin, dy*s.cos-dx*s.sin
	d := s.shape(u, v)
	wave := s.pattern(s.frequency*u+s.shiftX, s.frequency*v+s.shiftY)
	c = blend(s.objectDark, s.objectLit, clamp(0.5+wave*s.radius/(8*s.frequency)))
	return c.times((1 + s.objectDetail*fine) * (0.95 - 0.2*v) * (0.55 + 0.45*smooth(clamp(-8*d)))), clamp(0.5 - d*s.radius)
}

// develop sets the pixel to c with exposure and sensor noise. A third of the noise is a channel's own.
func (s *scene) develop(pixel []byte, c rgb, at uint64) {
	white := noise().white
	shared := white[at%uint64(len(white))]
	for j := range c {
		value := clamp(c[j] * s.gain[j])
		n := s.grain * (shared + 0.4*white[(at+uint64(j+1)*1009)%uint64(len(white))])
		pixel[j] = uint8(255*clamp(value+n*sqrt(value)) + 0.5) // shot noise: its deviation goes with the root of the light
	}
	pixel[3] = 255
}

func blend(a, b rgb, cover float32) rgb {
	return rgb{lerp(a[0], b[0], cover), lerp(a[1], b[1], cover), lerp(a[2], b[2], cover)}
}

func (c rgb) times(k float32) rgb { return rgb{k * c[0], k * c[1], k * c[2]} }

// clamp limits x to 0..1; comparing is much faster than min and max, which heed NaN.
func clamp(x float32) float32 {
	if x < 0 {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}

const (
	fieldBits = 9
	fieldSide = 1 << fieldBits // a power of two, so that fixed-point coordinates wrap by themselves
	fieldMask = fieldSide - 1
)

// field is a square of noise that tiles the plane, of mean 0 and deviation 1.
type field [fieldSide * fieldSide]float32

// fields are what all images share: they use the smooth and the rough one at other offsets, angles and scales.
type fields struct{ smooth, rough, white *field }

// noise does not depend on the seed: it costs more to compute than an image.
var noise = sync.OnceValue(func() fields {
	r := rand.New(rand.NewPCG(0, 0x5eed))
	return fields{fractal(r, 2, 0.6), fractal(r, 8, 0.9), fractal(r, fieldSide, 1)}
})

// fractal sums octaves of value noise, from period cells a side to cells of two texels;
// gain is an octave's amplitude over that of the octave before. Near 0.5 the
// amplitude falls as 1/f, which is the spectrum of natural scenes.
func fractal(r *rand.Rand, period int, gain float32) *field {
	f := new(field)
	for amplitude := float32(1); ; period, amplitude = 2*period, gain*amplitude {
		lattice := make([]float32, period*period)
		for i := range lattice {
			lattice[i] = amplitude * float32(r.NormFloat64())
		}
		cell := fieldSide / period
		for i := range f {
			x, y := i&fieldMask, i>>fieldBits
			top, bottom := lattice[y/cell*period:], lattice[(y/cell+1)%period*period:]
			left, right := x/cell, (x/cell+1)%period
			t := smooth(float32(x%cell) / float32(cell))
			f[i] += lerp(lerp(top[left], top[right], t), lerp(bottom[left], bottom[right], t), smooth(float32(y%cell)/float32(cell)))
		}
		if 2*period >= fieldSide {
			break
		}
	}
	var sum, squares float64
	for _, v := range f {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(f))
	deviation := math.Sqrt(squares/float64(len(f)) - mean*mean)
	for i, v := range f {
		f[i] = float32((float64(v) - mean) / deviation)
	}
	return f
}

// view lays a field under an image: pixel (x, y) has the value at the texel
// (u + x*dx - y*dy, v + x*dy + y*dx), a rotation and a scaling.
type view struct {
	f            *field
	u, v, dx, dy float64
}

// sample fills dst with the values of row y.
// Coordinates are counted in 1/65536 texel, where overflow is the field's own repetition.
func (w *view) sample(dst []float32, y float64) {
	u, v := fixed(w.u-y*w.dy), fixed(w.v+y*w.dx)
	du, dv := fixed(w.dx), fixed(w.dy)
	f := w.f
	for i := range dst {
		x0, y0 := u>>16&fieldMask, v>>16&fieldMask<<fieldBits
		x1, y1 := (x0+1)&fieldMask, (y0+fieldSide)&(fieldMask<<fieldBits)
		tu, tv := float32(u&0xffff)*(1.0/65536), float32(v&0xffff)*(1.0/65536)
		dst[i] = lerp(lerp(f[y0|x0], f[y0|x1], tu), lerp(f[y1|x0], f[y1|x1], tu), tv)
		u, v = u+du, v+dv
	}
}

// fixed keeps the 16 bits of the fraction and those of the wrapped whole number.
func fixed(x float64) uint32 { return uint32(int64(math.Floor(x * 65536))) }

func lerp(a, b, t float32) float32 { return a + (b-a)*t }

func smooth(t float32) float32 { return t * t * (3 - 2*t) }

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
