package pixel_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// stdImages returns an image of each type of the standard library, with random pixels and bounds that
// begin at an offset.
func stdImages() map[string]draw.Image {
	r := image.Rect(-3, 5, 20, 16)
	palette := color.Palette{color.Black, color.White, color.NRGBA{10, 200, 30, 128}, color.RGBA{1, 2, 3, 255}}
	opaque := color.Palette{color.Black, color.White, color.RGBA{1, 2, 3, 255}}
	list := map[string]draw.Image{
		"Gray": image.NewGray(r), "Gray16": image.NewGray16(r), "RGBA": image.NewRGBA(r), "NRGBA": image.NewNRGBA(r), "RGBA64": image.NewRGBA64(r),
		"NRGBA64": image.NewNRGBA64(r), "Alpha": image.NewAlpha(r), "Alpha16": image.NewAlpha16(r), "CMYK": image.NewCMYK(r),
		"Paletted": image.NewPaletted(r, palette), "opaque Paletted": image.NewPaletted(r, opaque), "opaque RGBA": image.NewRGBA(r), "opaque RGBA64": image.NewRGBA64(r),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, m := range list {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				n := random.Uint64()
				c := color.NRGBA64{uint16(n), uint16(n >> 16), uint16(n >> 32), uint16(n >> 48)}
				if name == "opaque RGBA" || name == "opaque RGBA64" {
					c.A = 0xffff
				}
				m.Set(x, y, c)
			}
		}
	}
	return list
}

// near reports whether two values of 16 bits differ at most by the rounding of their depth.
func near(a, b uint32, deep bool) bool {
	d := max(a, b) - min(a, b)
	return d == 0 || !deep && d <= 0x101 || deep && d <= 1
}

// Every image of the standard library, also a part of one, becomes an Image with its colours, and back.
func TestFromImageAndBack(t *testing.T) {
	channels := map[string]int{"Gray": 1, "Gray16": 1, "CMYK": 3, "opaque Paletted": 3, "opaque RGBA": 3, "opaque RGBA64": 3}
	for name, whole := range stdImages() {
		part := whole.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(image.Rect(1, 7, 18, 15))
		for _, img := range []image.Image{whole, part} {
			m, err := pixel.FromImage(img)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			b := img.Bounds()
			want := 4
			if c, ok := channels[name]; ok {
				want = c
			}
			if m.H != b.Dy() || m.W != b.Dx() || m.C != want || m.Check() != nil {
				t.Errorf("%s: %dx%dx%d of %s, %v", name, m.H, m.W, m.C, m.DType, m.Check())
				continue
			}
			back := m.ToImage()
			for y := range m.H {
				for x := range m.W {
					r, g, bl, a := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
					r2, g2, b2, a2 := back.At(x, y).RGBA()
					if deep := m.DType == formats.Uint16; !near(r, r2, deep) || !near(g, g2, deep) || !near(bl, b2, deep) || !near(a, a2, deep) {
						t.Fatalf("%s at (%d,%d): %v became %v", name, x, y, img.At(b.Min.X+x, b.Min.Y+y), back.At(x, y))
					}
				}
			}
		}
	}
	y := image.NewYCbCr(image.Rect(0, 0, 9, 7), image.YCbCrSubsampleRatio420)
	for i := range y.Y {
		y.Y[i] = byte(i * 3)
	}
	m, err := pixel.FromImage(y.SubImage(image.Rect(3, 2, 8, 7)))
	r, _, _, _ := y.At(3, 2).RGBA()
	if err != nil || m.W != 5 || m.H != 5 || m.C != 3 || uint32(m.Pix[0]) != r>>8 {
		t.Errorf("YCbCr: %+v, %v", m, err)
	}
}

// ToImage keeps all 16 bits and does not premultiply; it goes back unchanged, but for grey with alpha.
func TestToImage(t *testing.T) {
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		for c := 1; c <= 4; c++ {
			m := pixeltest.TestImage(13, 7, c, d)
			img := m.ToImage()
			back, err := pixel.FromImage(img)
			if err != nil || back.DType != d || c != 2 && (back.C != m.C || !bytes.Equal(back.Pix, m.Pix)) {
				t.Errorf("%d channels of %s: %v", c, d, err)
			}
			out := image.NewNRGBA64(img.Bounds())
			draw.Draw(out, out.Rect, img, image.Point{}, draw.Src)
			fromImage, first := out.NRGBA64At(0, 0).R, uint16(m.Pix[0])*0x101
			if d == formats.Uint16 {
				first = binary.LittleEndian.Uint16(m.Pix)
			}
			if c%2 == 1 && fromImage != first {
				t.Errorf("%d channels of %s: %#x was drawn as %#x", c, d, first, fromImage)
			}
			if img.At(-1, 0) == nil || img.At(99, 99) == nil {
				t.Errorf("%d channels of %s: no colour outside", c, d)
			}
		}
	}
}

// Images that are nil, empty or smaller than their bounds are errors.
func TestFromImageMisuse(t *testing.T) {
	r := image.Rect(0, 0, 10, 10)
	var none *image.RGBA
	for name, img := range map[string]image.Image{
		"nil": nil, "nil pointer": none, "empty": image.NewRGBA(image.Rect(3, 3, 3, 9)), "uniform colour is endless but has bounds": image.NewGray(image.Rectangle{}),
		"short Gray": &image.Gray{Rect: r, Stride: 10, Pix: make([]byte, 99)}, "short RGBA": &image.RGBA{Rect: r, Stride: 40, Pix: make([]byte, 50)},
		"short NRGBA64": &image.NRGBA64{Rect: r, Stride: 80, Pix: make([]byte, 799)}, "negative stride": &image.NRGBA{Rect: r, Stride: -40, Pix: make([]byte, 400)},
		"short YCbCr":      &image.YCbCr{Rect: r, YStride: 10, CStride: 5, Y: make([]byte, 100), Cb: make([]byte, 3), Cr: make([]byte, 100)},
		"index of palette": &image.Paletted{Rect: r, Stride: 10, Pix: bytes.Repeat([]byte{7}, 100), Palette: color.Palette{color.Black}},
	} {
		if m, err := pixel.FromImage(img); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	var m *pixel.Image
	for _, bad := range []*pixel.Image{m, {}, {H: 3, W: 3, C: 3, DType: formats.Uint8}} {
		if img := bad.ToImage(); !img.Bounds().Empty() {
			t.Error("an invalid image has pixels")
		}
	}
}

// An image may be turned, converted and cropped into itself, also into memory that it shares.
func TestInPlace(t *testing.T) {
	for name, do := range map[string]func(dst, src *pixel.Image) error{
		"orient":  func(dst, src *pixel.Image) error { return pixel.Orient(dst, src, 6) },
		"flip":    func(dst, src *pixel.Image) error { return pixel.Orient(dst, src, 2) },
		"convert": func(dst, src *pixel.Image) error { return pixel.ColorGray.Convert(dst, src) },
		"widen":   func(dst, src *pixel.Image) error { return pixel.ColorRGB.Convert(dst, src) },
		"keep":    func(dst, src *pixel.Image) error { return pixel.ColorKeep.Convert(dst, src) },
		"crop":    func(dst, src *pixel.Image) error { return src.Crop(dst, pixel.Rect{X: 2, Y: 1, W: 5, H: 4}) },
	} {
		for c := 1; c <= 4; c++ {
			src := pixeltest.TestImage(11, 8, c, formats.Uint8)
			var want pixel.Image
			if err := do(&want, src); err != nil {
				t.Fatal(err)
			}
			shared := pixel.Image{Pix: src.Pix[:0]}
			same := pixeltest.TestImage(11, 8, c, formats.Uint8)
			if err := do(same, same); err != nil || !bytes.Equal(same.Pix, want.Pix) {
				t.Errorf("%s of %d channels to itself: %v", name, c, err)
			}
			if err := do(&shared, src); err != nil || !bytes.Equal(shared.Pix, want.Pix) {
				t.Errorf("%s of %d channels to its own memory: %v", name, c, err)
			}
		}
	}
}

// Misuse is an error.
func TestImageMisuse(t *testing.T) {
	good, dst := pixeltest.TestImage(11, 8, 3, formats.Uint8), new(pixel.Image)
	bad := map[string]*pixel.Image{"nil": nil, "zero": {}, "short": {H: 4, W: 4, C: 3, DType: formats.Uint8, Pix: make([]byte, 7)}, "negative": {H: -4, W: 4, C: 3, DType: formats.Uint8}}
	for name, m := range bad {
		for what, err := range map[string]error{
			"orient": pixel.Orient(dst, m, 6), "convert": pixel.ColorGray.Convert(dst, m), "crop": m.Crop(dst, pixel.Rect{W: 1, H: 1}), "fill": m.Fill([]float64{1}), "check": m.Check(),
		} {
			if err == nil {
				t.Errorf("%s of a %s image: no error", what, name)
			}
		}
	}
	for what, err := range map[string]error{
		"orientation 9": pixel.Orient(dst, good, 9), "orientation -1": pixel.Orient(dst, good, -1),
		"crop outside": good.Crop(dst, pixel.Rect{X: 8, W: 4, H: 4}), "negative crop": good.Crop(dst, pixel.Rect{X: -1, W: 4, H: 4}), "empty crop": good.Crop(dst, pixel.Rect{X: 1}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Reset to a negative size does not panic")
		}
	}()
	dst.Reset(-1, 2, 3, formats.Uint8)
}
