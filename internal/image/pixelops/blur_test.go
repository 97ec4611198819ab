//go:build cgo

package pixelops

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// randomBlurring has a kernel of any size that the region of an image allows.
func randomBlurring(rng *rand.Rand) blurring {
	w, h, c := 1+rng.IntN(80), 1+rng.IntN(12), 1+2*rng.IntN(2)
	src := pixeltest.TestImage(w, h, c, formats.Uint8)
	part := pixel.Rect{X: rng.IntN(w), Y: rng.IntN(h)}
	part.W, part.H = 1+rng.IntN(w-part.X), 1+rng.IntN(h-part.Y)
	var dst pixel.Image
	b, err := newBlurring(&dst, src, part)
	if err != nil {
		panic(err)
	}
	b.factor = float32(2.5 * rng.Float64())
	sigma := 0.1 + 3*rng.Float64()
	b.weightsX = gaussian(nil, 1+2*rng.IntN(min(part.W, 12)), sigma)
	b.weightsY = gaussian(nil, 1+2*rng.IntN(min(part.H, 12)), sigma)
	return b
}

func compareBlur(t *testing.T, b blurring, reference func(*Enhancer, *blurring), kernels map[string]func(*Enhancer, *blurring)) {
	t.Helper()
	var e Enhancer
	made := func(do func(*Enhancer, *blurring)) []byte {
		memory, m := guardedPixels(&pixel.Image{Pix: make([]byte, len(b.dst.Pix)), H: b.dst.H, W: b.dst.W, C: b.dst.Size, DType: formats.Uint8})
		b.dst = resample.ViewOf(m)
		do(&e, &b)
		return memory
	}
	want := made(reference)
	for name, do := range kernels {
		if !bytes.Equal(made(do), want) {
			t.Errorf("%s: %dx%dx%d by %dx%d: bytes differ from pure Go's",
				name, b.src.W, b.src.H, b.src.Size, 2*len(b.weightsX)-1, 2*len(b.weightsY)-1)
		}
	}
}

func TestBlurEqualsPureGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		b := randomBlurring(rng)
		compareBlur(t, b, blurGo, blurKernels)
		compareBlur(t, b, sharpenGo, sharpenKernels)
	}
}

func FuzzBlurEqualsPureGo(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		b := randomBlurring(rand.New(rand.NewPCG(seed, 9)))
		compareBlur(t, b, blurGo, blurKernels)
		compareBlur(t, b, sharpenGo, sharpenKernels)
	})
}

// mirrorRows flips an image left to right.
func mirrorRows(m *pixel.Image) *pixel.Image {
	out := &pixel.Image{}
	out.Reset(m.H, m.W, m.C, m.DType)
	for y := range m.H {
		for x := range m.W {
			copy(out.Pix[(y*m.W+m.W-1-x)*m.C:][:m.C], m.Pix[(y*m.W+x)*m.C:])
		}
	}
	return out
}

// A mirrored image gives the mirrored result, bit for bit.
func TestBlurCommutesWithMirroring(t *testing.T) {
	var e Enhancer
	m := pixeltest.TestImage(61, 40, 3, formats.Uint8)
	var plain, mirrored pixel.Image
	for name, do := range map[string]func(dst, src *pixel.Image) error{
		"blur":    func(dst, src *pixel.Image) error { return e.Blur(dst, src, pixel.Rect{}, 9, 5, 1.7) },
		"sharpen": func(dst, src *pixel.Image) error { return e.Sharpen(dst, src, pixel.Rect{}, 1.8) },
	} {
		if err := do(&plain, m); err != nil {
			t.Fatal(err)
		}
		if err := do(&mirrored, mirrorRows(m)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mirrorRows(&mirrored).Pix, plain.Pix) {
			t.Errorf("%s does not commute with mirroring", name)
		}
	}
}

func TestBlurErrors(t *testing.T) {
	var e Enhancer
	var dst pixel.Image
	m := pixeltest.TestImage(8, 8, 3, formats.Uint8)
	for name, err := range map[string]error{
		"even":    e.Blur(&dst, m, pixel.Rect{}, 4, 3, 1),
		"sigma":   e.Blur(&dst, m, pixel.Rect{}, 3, 3, 0),
		"small":   e.Blur(&dst, m, pixel.Rect{W: 3, H: 8}, 7, 3, 1),
		"outside": e.Sharpen(&dst, m, pixel.Rect{X: 3, W: 6, H: 8}, 1),
		"depth":   e.Sharpen(&dst, pixeltest.TestImage(8, 8, 3, formats.Uint16), pixel.Rect{}, 1),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkBlur(b *testing.B) {
	m := pixeltest.TestImage(224, 224, 3, formats.Uint8)
	var e Enhancer
	var dst pixel.Image
	for _, n := range []int{3, 9, 23} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if err := e.Blur(&dst, m, pixel.Rect{}, n, n, 1.5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("sharpen", func(b *testing.B) {
		for b.Loop() {
			if err := e.Sharpen(&dst, m, pixel.Rect{}, 1.5); err != nil {
				b.Fatal(err)
			}
		}
	})
}
