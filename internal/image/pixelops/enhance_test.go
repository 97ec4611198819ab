//go:build cgo

package pixelops

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// margin is the number of bytes on both sides of the pixels that must not change.
const margin = 40

// guardedPixels copies m into memory with other bytes around its pixels.
func guardedPixels(m *pixel.Image) (memory []byte, copied *pixel.Image) {
	memory = slices.Repeat([]byte{0xA5}, len(m.Pix)+2*margin)
	copied = &pixel.Image{Pix: memory[margin:][:len(m.Pix)], H: m.H, W: m.W, C: m.C, DType: m.DType}
	copy(copied.Pix, m.Pix)
	return memory, copied
}

func compareEnhance(t *testing.T, m *pixel.Image, list []Enhancement) {
	t.Helper()
	var e Enhancer
	memory, want := guardedPixels(m)
	enhanceGo(&e, want, list)
	for name, do := range enhanceKernels {
		got, copied := guardedPixels(m)
		do(&e, copied, list)
		if !bytes.Equal(got, memory) {
			t.Errorf("%s: %dx%d %+v: pixels differ from pure Go's", name, m.W, m.H, list)
		}
		exact := &pixel.Image{Pix: slices.Clip(bytes.Clone(m.Pix)), H: m.H, W: m.W, C: m.C, DType: m.DType}
		do(&e, exact, list) // nothing beside the pixels is read: AddressSanitizer would see it
	}
}

// randomEnhancements are up to five changes that mix channels.
func randomEnhancements(rng *rand.Rand) []Enhancement {
	list := make([]Enhancement, rng.IntN(6))
	for i := range list {
		list[i] = Enhancement{Change(rng.IntN(int(Gray) + 1)), 2.5 * rng.Float64()}
		if list[i].Change == Hue {
			list[i].Factor = rng.Float64() - 0.5
		}
		if rng.IntN(8) == 0 {
			list[i].Factor = []float64{0, 1, 0.5, 1e6, -0.7}[rng.IntN(5)]
		}
	}
	return list
}

func TestEnhanceEqualsPureGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		w, h := 1+rng.IntN(40), 1+rng.IntN(20)
		if n < 40 {
			w, h = n+1, 1
		}
		compareEnhance(t, pixeltest.TestImage(w, h, 3, formats.Uint8), randomEnhancements(rng))
	}
}

func FuzzEnhanceEqualsPureGo(f *testing.F) {
	f.Add([]byte("pixels of an image"), uint64(3))
	f.Fuzz(func(t *testing.T, pixels []byte, seed uint64) {
		n := len(pixels) / 3
		if n == 0 {
			return
		}
		m := &pixel.Image{Pix: pixels[:3*n], H: 1, W: n, C: 3, DType: formats.Uint8}
		compareEnhance(t, m, randomEnhancements(rand.New(rand.NewPCG(seed, 1))))
	})
}

// The kernel in use shifts the hue of every colour as the pure-Go version does.
func TestHueOfAllColors(t *testing.T) {
	if testing.Short() {
		t.Skip("16.7 million colors")
	}
	m := &pixel.Image{}
	m.Reset(1<<12, 1<<12, 3, formats.Uint8)
	for i := range 1 << 24 {
		m.Pix[3*i], m.Pix[3*i+1], m.Pix[3*i+2] = byte(i), byte(i>>8), byte(i>>16)
	}
	want := &pixel.Image{Pix: bytes.Clone(m.Pix), H: m.H, W: m.W, C: m.C, DType: m.DType}
	var e Enhancer
	list := []Enhancement{{Hue, 0.3}}
	enhanceGo(&e, want, list)
	enhanceRGB(&e, m, list)
	for i := 0; i < len(m.Pix); i += 3 {
		if got, want := m.Pix[i:i+3], want.Pix[i:i+3]; !bytes.Equal(got, want) {
			t.Fatalf("colour %06x becomes %v, want %v", i/3, got, want)
		}
	}
}

// float32 has exactly the middle value, as the SIMD kernels compute it, for every hue, saturation and
// largest value.
func TestFractionsInFloat32(t *testing.T) {
	const inverse = float32(1) / (255 * 255)
	for side := range 256 {
		for s := range 256 {
			for v := range 256 {
				want := (v*(255*255-s*side) + 255*255/2) / (255 * 255)
				sum := float32(v)*(255*255-float32(s)*float32(side)) + 255*255/2 // exact, fused or not
				if got := int(sum * inverse); got != want {
					t.Fatalf("%d of %d by %d: %d, want %d", v, s, side, got, want)
				}
			}
		}
	}
}

// Every blend equals the pure-Go version's.
func TestBlendOfAllValues(t *testing.T) {
	m := &pixel.Image{}
	m.Reset(256, 256, 3, formats.Uint8)
	for i := range 1 << 16 {
		m.Pix[3*i], m.Pix[3*i+1], m.Pix[3*i+2] = byte(i), byte(i>>8), byte(i*7)
	}
	for i := range 9 {
		for _, c := range []Change{Brightness, Contrast, Saturation} {
			compareEnhance(t, m, []Enhancement{{c, float64(i) * 0.277}})
		}
	}
}

// A list of changes equals separate calls, on grey images too.
func TestEnhanceOneAfterAnother(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	var e Enhancer
	for range 100 {
		m := pixeltest.TestImage(1+rng.IntN(30), 1+rng.IntN(30), 1+2*rng.IntN(2), formats.Uint8)
		list := randomEnhancements(rng)
		list = append(list, Enhancement{Gray + 1 + Change(rng.IntN(5)), 3})
		list = append(list, randomEnhancements(rng)...)
		together := &pixel.Image{Pix: bytes.Clone(m.Pix), H: m.H, W: m.W, C: m.C, DType: m.DType}
		if err := e.Enhance(together, list); err != nil {
			t.Fatal(err)
		}
		for _, change := range list {
			if err := e.Enhance(m, []Enhancement{change}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(together.Pix, m.Pix) {
			t.Errorf("%d channels, %v: pixels differ from separate calls'", m.C, list)
		}
	}
}

func TestTablesEqualPureGo(t *testing.T) {
	for n := range 60 {
		m := pixeltest.TestImage(1+n, 1+n%7, 1+2*(n%2), formats.Uint8)
		var got, want [3]histogram
		countValues(m, &got)
		countGo(m, &want)
		if got != want {
			t.Errorf("%dx%dx%d: counts differ", m.W, m.H, m.C)
		}
		var tables [3]table
		for i := range 3 * 256 {
			tables[i/256][i%256] = byte(i * i)
		}
		memory, copied := guardedPixels(m)
		reference, kernel := guardedPixels(m)
		replaceValues(copied, &tables)
		replaceGo(kernel, &tables)
		if !bytes.Equal(memory, reference) {
			t.Errorf("%dx%dx%d: replaced values differ", m.W, m.H, m.C)
		}
	}
}

func TestEnhanceErrors(t *testing.T) {
	var e Enhancer
	list := []Enhancement{{Brightness, 0.5}}
	if err := e.Enhance(pixeltest.TestImage(4, 4, 3, formats.Uint16), list); !errors.Is(err, ErrNotEightBit) {
		t.Errorf("16 bits: %v", err)
	}
	if err := e.Enhance(pixeltest.TestImage(4, 4, 4, formats.Uint8), list); !errors.Is(err, pixel.ErrUnsupported) {
		t.Errorf("alpha: %v", err)
	}
	if err := e.Enhance(&pixel.Image{}, list); err == nil {
		t.Error("an image without pixels is enhanced")
	}
}

func BenchmarkEnhance(b *testing.B) {
	jitter := []Enhancement{{Brightness, 1.2}, {Contrast, 0.8}, {Saturation, 1.3}}
	for _, bb := range []struct {
		name string
		list []Enhancement
	}{
		{"brightness", jitter[:1]},
		{"contrast", jitter[1:2]},
		{"saturation", jitter[2:]},
		{"hue", []Enhancement{{Hue, 0.1}}},
		{"three", jitter},
		{"four", append(slices.Clone(jitter), Enhancement{Hue, 0.1})},
		{"solarize", []Enhancement{{Solarize, 128}}},
		{"equalize", []Enhancement{{Equalize, 0}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var e Enhancer
			m := pixeltest.TestImage(224, 224, 3, formats.Uint8)
			for b.Loop() {
				if err := e.Enhance(m, bb.list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
