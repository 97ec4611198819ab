//go:build cgo

package resample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// fromHalf is the value of a float16.
func fromHalf(b uint16) float64 {
	sign, exponent, mantissa := 1-2*float64(b>>15), int(b>>10&31), float64(b&0x3FF)
	switch exponent {
	case 0:
		return sign * math.Ldexp(mantissa, -24)
	case 31:
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+mantissa, exponent-25)
}

// fromBrain is the value of a bfloat16.
func fromBrain(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }

// checkNearest checks that no neighbour of got is nearer to x, and that ties go to even.
func checkNearest(t *testing.T, name string, x float32, got uint16, value func(uint16) float64) {
	t.Helper()
	off := func(b uint16) float64 { return math.Abs(value(b) - float64(x)) }
	for _, other := range []uint16{got - 1, got + 1} {
		if math.IsInf(value(other), 0) || math.IsNaN(value(other)) || value(other)*value(got) < 0 {
			continue
		}
		if d := off(other); d < off(got) || d == off(got) && got&1 == 1 {
			t.Fatalf("%s of %v: %#x (%v), but %#x is %v", name, x, got, value(got), other, value(other))
		}
	}
}

func TestHalvesAreNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200_000 {
		x := float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(44)-28))
		if h := ToFloat16(x); !math.IsInf(fromHalf(h), 0) {
			checkNearest(t, "float16", x, h, fromHalf)
		} else if math.Abs(float64(x)) < 65520 {
			t.Fatalf("float16 of %v is infinite", x)
		}
		checkNearest(t, "bfloat16", x, ToBFloat16(x), fromBrain)
	}
	// Halfway between two values.
	for b := uint16(0); b < 0x7BFF; b++ {
		x := float32((fromHalf(b) + fromHalf(b+1)) / 2)
		if want := b + b&1; ToFloat16(x) != want {
			t.Fatalf("float16 of %v, halfway: %#x, want %#x", x, ToFloat16(x), want)
		}
	}
	if ToFloat16(65519) != 0x7BFF || ToFloat16(65520) != 0x7C00 || ToFloat16(float32(math.Inf(-1))) != 0xFC00 {
		t.Error("float16 ends in the wrong place")
	}
}

// Values that arithmetic does not give exactly come from the table.
func TestInexactNormalisation(t *testing.T) {
	src := pixeltest.TestImage(40, 9, 1, formats.Uint8)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 300 {
		mean, std := []float32{rng.Float32()}, []float32{float32(math.Ldexp(rng.Float64()+0.1, rng.IntN(280)-140))}
		s, err := NewTensorSpec(1, tensorTypes[1+i%3], pixel.NHWC, mean, std)
		if err != nil {
			t.Fatal(err)
		}
		got, want := newGuarded(s, 360, false, pixel.Rect{}), newGuarded(s, 360, false, pixel.Rect{W: 40, H: 9})
		if err := new(Resampler).StoreTo(got.Target, src); err != nil {
			t.Fatal(err)
		}
		want.write8(ViewOf(src))
		for k := range 360 {
			if s.dtype == formats.Float32 && math.Float32bits(got.Float32[k]) != math.Float32bits(want.Float32[k]) ||
				s.dtype != formats.Float32 && got.Half[k] != want.Half[k] {
				t.Fatalf("%s, mean %v, std %v: element %d differs", s.dtype, mean, std, k)
			}
		}
	}
}

func TestTensorSpecErrors(t *testing.T) {
	for name, err := range map[string]error{
		"no channels":    errOf(NewTensorSpec(0, formats.Uint8, pixel.NHWC, nil, nil)),
		"int64":          errOf(NewTensorSpec(3, formats.Int64, pixel.NHWC, nil, nil)),
		"another layout": errOf(NewTensorSpec(3, formats.Uint8, "chw", nil, nil)),
		"two means":      errOf(NewTensorSpec(3, formats.Float32, pixel.NHWC, []float32{1, 2}, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var r Resampler
	src, deep := pixeltest.TestImage(10, 8, 3, formats.Uint8), pixeltest.TestImage(10, 8, 3, formats.Uint16)
	s := testSpec(t, 3, formats.Uint8, pixel.NHWC)
	for name, err := range map[string]error{
		"too small":       r.StoreTo(Target{Spec: s, Uint8: make([]uint8, 239)}, src),
		"another type":    r.StoreTo(Target{Spec: s, Float32: make([]float32, 240)}, src),
		"part outside":    r.StoreTo(Target{Spec: s, Region: pixel.Rect{X: 8, Y: 0, W: 3, H: 1}, Uint8: make([]uint8, 9)}, src),
		"16 bits":         r.StoreTo(Target{Spec: s, Uint8: make([]uint8, 240)}, deep),
		"other channels":  r.ResizeTo(Target{Spec: s, Uint8: make([]uint8, 16)}, pixeltest.TestImage(9, 9, 1, formats.Uint8), pixel.Rect{}, 4, 4, pixel.Box),
		"crop outside":    r.ResizeTo(Target{Spec: s, Uint8: make([]uint8, 48)}, src, pixel.Rect{X: 0, Y: 0, W: 11, H: 1}, 4, 4, pixel.Box),
		"part of resized": r.ResizeTo(Target{Spec: s, Region: pixel.Rect{X: 0, Y: 0, W: 5, H: 5}, Uint8: make([]uint8, 75)}, src, pixel.Rect{}, 4, 4, pixel.Box),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func errOf(_ *TensorSpec, err error) error { return err }

// ResizeTo equals Resize and then StoreTo, for every kind of image and filter.
func TestResizeToIsResizeAndStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var r Resampler
	for i := range 400 {
		c := randomTensorCase(rng)
		dtype := formats.Uint8
		if i%3 == 0 && c.dtype != formats.Uint8 {
			dtype = formats.Uint16
		}
		c.filter = filters[i%len(filters)]
		src := pixeltest.TestImage(c.w, c.h, c.channels, dtype)
		s := testSpec(t, c.channels, c.dtype, c.layout)
		_, part := c.scaling(src)
		n := part.W * part.H * c.channels
		got, want := newGuarded(s, n, c.flip, c.region), newGuarded(s, n, c.flip, c.region)
		var m pixel.Image
		err := r.ResizeTo(got.Target, src, c.crop, c.toW, c.toH, c.filter)
		if err == nil {
			err = r.Resize(&m, src, c.crop, c.toW, c.toH, c.filter)
		}
		if err == nil {
			err = r.StoreTo(want.Target, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !got.equal(want) {
			t.Errorf("%s, %s: elements differ", c, dtype)
		}
	}
}

// Coefficients stay valid as long as a resize needs them, however many others are computed.
func TestCoefficientsStayValid(t *testing.T) {
	var x coefficientCache
	one := axis{in: 100, to: 100, out: 50, filter: pixel.Bilinear, dtype: formats.Uint8}
	for i := range 3 * maxCachedAxes {
		hor := x.get(one)
		first := append([]int32(nil), hor.weights...)
		other := one
		other.in, other.to = 101+i, float32(101+i)
		x.get(other)
		for k := range first {
			if hor.weights[k] != first[k] {
				t.Fatalf("after %d others the weights are those of another axis", i)
			}
		}
		var fresh coefficients
		fresh.compute(other)
		if got := x.get(other); got.taps != fresh.taps || got.fixed(7, 1) != fresh.fixed(7, 1) {
			t.Fatalf("axis %d: weights differ from fresh ones", i)
		}
	}
	if len(x.entries) != maxCachedAxes {
		t.Errorf("%d entries are kept", len(x.entries))
	}
}
