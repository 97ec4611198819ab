package synth

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"sync"
)

// painter draws scenes as images of one size; one a goroutine.
type painter struct {
	w, h    int
	encoded bytes.Buffer
	out     *image.RGBA
	// One row: colours before light and noise, and values of fields.
	row, ground  []rgb
	coarse, fine []float32
}

func newPainter(w, h int) *painter {
	return &painter{
		w: w, h: h, out: image.NewRGBA(image.Rect(0, 0, w, h)),
		row: make([]rgb, w), ground: make([]rgb, w), coarse: make([]float32, w), fine: make([]float32, w),
	}
}

// paint draws s; the image is valid until the next call.
func (p *painter) paint(s *scene) *image.RGBA {
	for y := range p.h {
		p.paintBackground(s, float32(y))
		p.paintObject(&s.object, float32(y))
		p.develop(s, y)
	}
	return p.out
}

// paintBackground has the sky above a rough skyline and the ground below it.
func (p *painter) paintBackground(s *scene, y float32) {
	p.shade(p.row, &s.sky, y)
	p.shade(p.ground, &s.ground, y)
	s.skyline.sample(p.coarse, float64(y))
	for x := range p.row {
		p.row[x].blend(p.ground[x], clamp(y-s.horizon+s.relief*p.coarse[x]))
	}
}

// shade gives dst the colours of m in row y.
func (p *painter) shade(dst []rgb, m *material, y float32) {
	m.coarse.sample(p.coarse, float64(y))
	m.fine.sample(p.fine, float64(y))
	for x := range dst {
		c, k := m.dark, max(1+m.detail*p.fine[x], 0.1)
		c.blend(m.bright, clamp(0.5+m.contrast*p.coarse[x]))
		dst[x] = rgb{k * c[0], k * c[1], k * c[2]}
	}
}

func (p *painter) paintObject(o *object, y float32) {
	reach := shapeReach * o.radius
	if abs(y-o.y) > reach {
		return
	}
	o.surface.sample(p.fine, float64(y))
	for x := max(int(o.x-reach), 0); x < min(int(o.x+reach)+2, p.w); x++ {
		dx, dy := (float32(x)-o.x)/o.radius, (y-o.y)/o.radius
		u, v := dx*o.cos+dy*o.sin, dy*o.cos-dx*o.sin
		d, emblem := o.distance(u, v)
		if cover := clamp(0.5 - d*o.radius); cover > 0 {
			p.row[x].blend(o.colour(u, v, d, emblem, 1+o.detail*p.fine[x]), cover)
		}
	}
}

// colour is the object's at (u, v), at those distances from its edge and its emblem's,
// of brightness k: pattern, emblem, rounded edges and light from above.
func (o *object) colour(u, v, d, emblem, k float32) rgb {
	wave := o.pattern.wave(o.frequency*u+o.shiftX, o.frequency*v+o.shiftY)
	c := o.dark
	c.blend(o.bright, clamp(0.5+wave*o.radius/(8*o.frequency)))
	c.blend(o.emblemTone, clamp(0.5-emblem*o.radius))
	k *= (0.95 - 0.2*v) * (0.55 + 0.45*smooth(clamp(-8*d)))
	return rgb{k * c[0], k * c[1], k * c[2]}
}

// develop applies light and sensor noise to row y. A third of the noise is a channel's own.
func (p *painter) develop(s *scene, y int) {
	white, out := noise().white, p.out.Pix[y*p.out.Stride:]
	grain := s.grainStart + uint64(y)*0x9e3779b97f4a7c15>>20
	for x, c := range p.row {
		k := 1 + s.slopeX*(2*float32(x)/float32(p.w)-1) + s.slopeY*(2*float32(y)/float32(p.h)-1)
		at := grain + uint64(x)
		shared := white[at%uint64(len(white))]
		for j := range c {
			value := clamp(c[j] * k * s.gain[j])
			n := s.grain * (shared + 0.4*white[(at+uint64(j+1)*1009)%uint64(len(white))])
			// Shot noise: its deviation goes with the root of the light.
			out[4*x+j] = uint8(255*clamp(value+n*sqrt(value)) + 0.5)
		}
		out[4*x+3] = 255
	}
}

func (c *rgb) blend(over rgb, cover float32) {
	c[0] = lerp(c[0], over[0], cover)
	c[1] = lerp(c[1], over[1], cover)
	c[2] = lerp(c[2], over[2], cover)
}

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

// fields are what all images share: they use the smooth and the rough one at other offsets, angles
// and scales.
type fields struct{ smooth, rough, white *field }

// noise does not depend on the seed: it costs more to compute than an image.
var noise = sync.OnceValue(func() fields {
	r := rand.New(rand.NewPCG(0, 0x5eed))
	white := new(field)
	for i := range white {
		white[i] = float32(r.NormFloat64())
	}
	return fields{fractal(r, 2, 0.6), fractal(r, 8, 0.9), white}
})

// fractal sums octaves of value noise, from period cells a side to cells of two texels;
// gain is an octave's amplitude over that of the octave before. Near 0.5 the
// amplitude falls as 1/f, which is the spectrum of natural scenes.
func fractal(r *rand.Rand, period int, gain float32) *field {
	f := new(field)
	for amplitude := float32(1); period < fieldSide; period, amplitude = 2*period, gain*amplitude {
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
