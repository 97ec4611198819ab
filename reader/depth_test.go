package reader

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// deepFile is an image file of 16 bits per channel, and its grey and red, green, blue.
type deepFile struct {
	name string
	v    formats.Value
	gray []uint16
	rgb  []uint16
}

const deepH, deepW = 9, 11

// deepFiles are the kinds of files that hold 16 bits per channel.
func deepFiles(t *testing.T) []deepFile {
	t.Helper()
	r := image.Rect(0, 0, deepW, deepH)
	gray, rgba, opaque := image.NewGray16(r), image.NewNRGBA64(r), image.NewNRGBA64(r)
	var levels, level3, lumas, colors []uint16
	for y := range deepH {
		for x := range deepW {
			v := uint16(300 + 550*(y*deepW+x))
			c := color.NRGBA64{R: v, G: 65535 - v, B: v * 7, A: 40000}
			gray.SetGray16(x, y, color.Gray16{Y: v})
			rgba.SetNRGBA64(x, y, c)
			opaque.SetNRGBA64(x, y, color.NRGBA64{R: c.R, G: c.G, B: c.B, A: 65535})
			levels, level3 = append(levels, v), append(level3, v, v, v)
			colors = append(colors, c.R, c.G, c.B)
			lumas = append(lumas, uint16((uint64(c.R)*19595+uint64(c.G)*38470+uint64(c.B)*7471+0x8000)>>16))
		}
	}
	asPNG := func(m image.Image) formats.Value {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return formats.Value{Data: b.Bytes(), Encoding: formats.PNG}
	}
	asTIFF := func(m image.Image) formats.Value {
		var b bytes.Buffer
		if err := tiff.Encode(&b, m, nil); err != nil {
			t.Fatal(err)
		}
		return formats.Value{Data: b.Bytes(), Encoding: formats.TIFF}
	}
	return []deepFile{
		{"grey PNG", asPNG(gray), levels, level3},
		{"RGB PNG", asPNG(opaque), lumas, colors},
		{"RGBA PNG", asPNG(rgba), lumas, colors},
		{"grey TIFF", asTIFF(gray), levels, level3},
		{"RGBA TIFF", asTIFF(rgba), lumas, colors},
		{"raw grey", rawDeep(1, levels), levels, level3},
		{"raw grey and alpha", rawDeep(2, withAlpha(levels)), levels, level3},
		{"raw RGB", rawDeep(3, colors), lumas, colors},
	}
}

func rawDeep(c int, words []uint16) formats.Value {
	v := formats.Value{Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{deepH, deepW, c}}
	for _, x := range words {
		v.Data = append(v.Data, byte(x), byte(x>>8))
	}
	return v
}

func withAlpha(levels []uint16) (pixels []uint16) {
	for _, v := range levels {
		pixels = append(pixels, v, 9000)
	}
	return pixels
}

// Batches of uint16 hold all 16 bits of an image, in any color.
func TestBatchesOfUint16KeepDepthInAnyColor(t *testing.T) {
	part := pixel.Rect{X: 3, Y: 2, W: 5, H: 5}
	cropped := []augment.Op{augment.CenterCrop{H: 5, W: 5}, augment.RandomHorizontalFlip{P: 1}}
	for _, f := range deepFiles(t) {
		ds := newMemory()
		ds.add("train", f.v)
		for _, o := range []struct {
			color pixel.Color
			c     int
			want  []uint16
		}{{pixel.ColorGray, 1, f.gray}, {pixel.ColorRGB, 3, f.rgb}} {
			cache := Cache{Kind: Decoded, Dir: t.TempDir(), Limit: 1 << 20}
			shared := makeLoader(t, ds, Config{BatchSize: 1, Color: o.color, Cache: cache}) // has 8 bits per channel
			collect(t, shared, 0)
			l := makeLoader(t, ds, Config{BatchSize: 1, DType: formats.Uint16, Color: o.color, Cache: cache})
			for epoch := range 2 {
				if got := Pixels[uint16](collect(t, l, epoch)[0]); !slices.Equal(got, o.want) {
					t.Errorf("%s as %s, epoch %d: %v..., want %v...", f.name, o.color, epoch, got[:6], o.want[:6])
				}
			}
			c := Config{BatchSize: 1, DType: formats.Uint16, Color: o.color, Transforms: cropped}
			want := cut16(o.want, o.c, part)
			if got := Pixels[uint16](collect(t, makeLoader(t, ds, c), 0)[0]); !slices.Equal(got, want) {
				t.Errorf("%s as %s, cropped and flipped: %v..., want %v...", f.name, o.color, got[:6], want[:6])
			}
		}
	}
}

func cut16(pixels []uint16, c int, r pixel.Rect) []uint16 {
	return part(pixels, deepW, c, r, true)
}
