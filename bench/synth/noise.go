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
// Images look at the same few fields from other places, angles and scales.
type field [fieldSide * fieldSide]float32

// tables are the noise that all images share; read-only once made.
type tables struct {
	fields []*field // smooth, rough, ridged, cellular
	grain  []rgb
}

// grainSize is the length of the sensor noise, of which each row of an image starts
// elsewhere; it is followed by its own beginning, so that a start leaves grainSize to read.
const grainSize = 1 << 14

// chromaGrain is a channel's own noise over that which all three share.
const chromaGrain = 0.4

// sharedTables do not depend on the seed: they cost more to make than an image.
var sharedTables = sync.OnceValue(func() *tables {
	r := rand.New(rand.NewPCG(0, 0x5eed))
	ridged := fractal(r, 4, 0.8)
	for i, v := range ridged {
		ridged[i] = -abs(v)
	}
	t := &tables{
		fields: []*field{fractal(r, 2, 0.6), fractal(r, 8, 0.9), ridged.standardize(), cellular(r, 60)},
		grain:  make([]rgb, 2*grainSize),
	}
	for i := range grainSize {
		shared := float32(r.NormFloat64())
		for j := range 3 {
			t.grain[i][j] = shared + chromaGrain*float32(r.NormFloat64())
		}
	}
	copy(t.grain[grainSize:], t.grain)
	return t
})

// fractal sums octaves of value noise, from period cells a side to cells of two texels;
// gain is an octave's amplitude over that of the octave before. Near 0.5 the
// amplitude falls as 1/f, which is the spectrum of natural scenes.
func fractal(r *rand.Rand, period int, gain float32) *field {
	f := new(field)
	amplitude := float32(1)
	for ; period < fieldSide; period *= 2 {
		f.addOctave(r, period, amplitude)
		amplitude *= gain
	}
	return f.standardize()
}

// addOctave adds value noise on a lattice of period x period cells.
func (f *field) addOctave(r *rand.Rand, period int, amplitude float32) {
	lattice := make([]float32, period*period)
	for i := range lattice {
		lattice[i] = amplitude * float32(r.NormFloat64())
	}
	cell := fieldSide / period
	for y := range fieldSide {
		y0, ty := y/cell, smooth(float32(y%cell)/float32(cell))
		top, bottom := lattice[y0*period:][:period], lattice[(y0+1)%period*period:][:period]
		for x := range fieldSide {
			x0, tx := x/cell, smooth(float32(x%cell)/float32(cell))
			x1 := (x0 + 1) % period
			f[y<<fieldBits|x] += lerp(lerp(top[x0], top[x1], tx), lerp(bottom[x0], bottom[x1], tx), ty)
		}
	}
}

// cellular is Worley's noise: pebbles or leaves of random brightness with dark seams,
// one in each of cells x cells jittered places.
func cellular(r *rand.Rand, cells int) *field {
	type seed struct{ x, y, value float32 }
	seeds := make([]seed, cells*cells)
	for i := range seeds {
		seeds[i] = seed{r.Float32(), r.Float32(), r.Float32()}
	}
	f := new(field)
	for i := range f {
		x := float32(i&fieldMask) * float32(cells) / fieldSide
		y := float32(i>>fieldBits) * float32(cells) / fieldSide
		near, second, value := float32(9), float32(9), float32(0)
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				cx, cy := int(x)+dx, int(y)+dy
				s := seeds[(cy+cells)%cells*cells+(cx+cells)%cells]
				d := hypot(float32(cx)+s.x-x, float32(cy)+s.y-y)
				if d < near {
					near, second, value = d, near, s.value
				} else if d < second {
					second = d
				}
			}
		}
		f[i] = value + min(3*(second-near), 1) - 0.5*near
	}
	return f.standardize()
}

func (f *field) standardize() *field {
	var sum, squares float64
	for _, v := range f {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(f))
	scale := 1 / math.Sqrt(squares/float64(len(f))-mean*mean)
	for i, v := range f {
		f[i] = float32((float64(v) - mean) * scale)
	}
	return f
}

// view lays a field under the plane of an image: point (x, y) of it sees the texel
// (u + x*dx - y*dy, v + x*dy + y*dx), a turn and a scaling.
type view struct {
	f            *field
	u, v, dx, dy float64
}

// sample fills dst with the field at points from (x, y) to the right, step apart.
// Coordinates are counted in 1/65536 texel, where overflow is the field's own repetition.
func (w *view) sample(dst []float32, x, y, step float64) {
	u, v := fixed(w.u+x*w.dx-y*w.dy), fixed(w.v+x*w.dy+y*w.dx)
	du, dv := fixed(w.dx*step), fixed(w.dy*step)
	f := w.f
	for i := range dst {
		x0, y0 := u>>16&fieldMask, v>>16&fieldMask<<fieldBits
		x1, y1 := (x0+1)&fieldMask, (y0+fieldSide)&(fieldMask<<fieldBits)
		tu, tv := float32(u&0xffff)*(1.0/65536), float32(v&0xffff)*(1.0/65536)
		dst[i] = lerp(lerp(f[y0|x0], f[y0|x1], tu), lerp(f[y1|x0], f[y1|x1], tu), tv)
		u, v = u+du, v+dv
	}
}

// fixed keeps the 16 bits of the fraction and those of the wrapped whole part.
func fixed(x float64) uint32 { return uint32(int64(math.Floor(x * 65536))) }

func lerp(a, b, t float32) float32 { return a + (b-a)*t }

func smooth(t float32) float32 { return t * t * (3 - 2*t) }
