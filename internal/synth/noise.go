package synth

import (
	"math"
	"math/rand/v2"
	"sync"
)

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
