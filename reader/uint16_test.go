package reader

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// deepImages is n raw images of 16 bits per channel.
func deepImages(n, h, w, c int) *memory {
	d := newMemory()
	for i := range n {
		v := formats.Value{Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{h, w, c}}
		for j := range h * w * c {
			v.Data = binary.LittleEndian.AppendUint16(v.Data, uint16((i*31+j)*2654435761>>7))
		}
		d.add("train", v)
	}
	return d
}

// words are little-endian numbers of 16 bits.
func words(b []byte) (all []uint16) {
	for ; len(b) > 0; b = b[2:] {
		all = append(all, binary.LittleEndian.Uint16(b))
	}
	return all
}

// planar is one image's h*w*c elements in the order of NCHW.
func planar[T any](pixels []T, c int) []T {
	out := make([]T, 0, len(pixels))
	for k := range c {
		for i := k; i < len(pixels); i += c {
			out = append(out, pixels[i])
		}
	}
	return out
}

func TestDeepImagesAsTheyAre(t *testing.T) {
	const h, w = 7, 9
	for _, c := range []int{1, 3, 4} {
		ds := deepImages(3, h, w, c)
		for _, tt := range []struct {
			ops    []augment.Op
			part   pixel.Rect
			mirror bool
		}{
			{nil, pixel.Rect{W: w, H: h}, false},
			{[]augment.Op{augment.RandomHorizontalFlip{P: 1}}, pixel.Rect{W: w, H: h}, true},
			{[]augment.Op{augment.CenterCrop{H: 3, W: 5}}, pixel.Rect{X: 2, Y: 2, W: 5, H: 3}, false},
			{[]augment.Op{augment.CenterCrop{H: 3, W: 5}, augment.RandomHorizontalFlip{P: 1}}, pixel.Rect{X: 2, Y: 2, W: 5, H: 3}, true},
		} {
			for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
				l := makeLoader(t, ds, Config{BatchSize: 3, DType: formats.Uint16, Layout: layout, Color: pixel.ColorKeep, Transforms: tt.ops})
				b := collect(t, l, 0)[0]
				if b.DType != formats.Uint16 {
					t.Fatal("a batch of uint16 has other elements too")
				}
				n := tt.part.W * tt.part.H * c
				for i := range 3 {
					want := part(words(ds.samples[i].Values[0].Data), w, c, tt.part, tt.mirror)
					if layout == pixel.NCHW {
						want = planar(want, c)
					}
					if !slices.Equal(Pixels[uint16](b)[i*n:][:n], want) {
						t.Fatalf("%d channels, %v, %s: image %d is not its own", c, tt.ops, layout, i)
					}
				}
			}
		}
	}
}

// part cuts r out of an image of that width and mirrors it.
func part[T any](pixels []T, width, c int, r pixel.Rect, mirror bool) (out []T) {
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := range r.W {
			if mirror {
				x = r.W - 1 - x
			}
			out = append(out, pixels[(y*width+r.X+x)*c:][:c]...)
		}
	}
	return out
}

func TestDeepImagesAreResizedAtFullDepth(t *testing.T) {
	ds := deepImages(2, 31, 40, 3)
	b := collect(t, makeLoader(t, ds, Config{
		BatchSize: 2, DType: formats.Uint16, Color: pixel.ColorKeep, Transforms: []augment.Op{augment.Resize{H: 12, W: 17}},
	}), 0)[0]
	var r resample.Resampler
	var want pixel.Image
	for i, s := range ds.samples {
		m := pixel.Image{Pix: s.Values[0].Data, H: 31, W: 40, C: 3, DType: formats.Uint16}
		if err := r.Resize(&want, &m, pixel.Rect{}, 17, 12, pixel.Bilinear); err != nil {
			t.Fatal(err)
		}
		if n := 12 * 17 * 3; !slices.Equal(Pixels[uint16](b)[i*n:][:n], words(want.Pix)) {
			t.Errorf("image %d differs from what the resampler makes of it", i)
		}
	}
}

// TestShallowImagesBecome257Times holds for all that happens to images before.
func TestShallowImagesBecome257Times(t *testing.T) {
	ds := photos(t, 12)
	jitter := augment.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}
	for _, ops := range [][]augment.Op{augment.Train(16), augment.Eval(16), append(augment.Train(16), jitter)} {
		for _, layout := range []pixel.Layout{pixel.NHWC, pixel.NCHW} {
			c := Config{BatchSize: 12, Seed: 3, Transforms: ops, Layout: layout}
			bytes := Pixels[uint8](collect(t, makeLoader(t, ds, c), 1)[0])
			c.DType = formats.Uint16
			got := Pixels[uint16](collect(t, makeLoader(t, ds, c), 1)[0])
			for i, x := range bytes {
				if got[i] != 257*uint16(x) {
					t.Fatalf("%v, %s: element %d is %d for %d", ops, layout, i, got[i], x)
				}
			}
		}
	}
}

func TestDeepPNGs(t *testing.T) {
	m := image.NewGray16(image.Rect(0, 0, 6, 5))
	for i := range m.Pix {
		m.Pix[i] = byte(i * 37)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, m); err != nil {
		t.Fatal(err)
	}
	ds := newMemory()
	ds.add("train", formats.Value{Data: buf.Bytes(), Encoding: formats.PNG})
	b := collect(t, makeLoader(t, ds, Config{BatchSize: 1, DType: formats.Uint16, Color: pixel.ColorKeep}), 0)[0]
	for i, x := range Pixels[uint16](b) {
		if want := binary.BigEndian.Uint16(m.Pix[2*i:]); x != want {
			t.Fatalf("pixel %d is %d, want %d", i, x, want)
		}
	}
	if b.Shape != [4]int{1, 5, 6, 1} {
		t.Errorf("shape %v", b.Shape)
	}
}

func TestDeepImagesAsFloats(t *testing.T) {
	ds := deepImages(2, 5, 6, 3)
	norm := augment.ImageNet
	c := Config{BatchSize: 2, Color: pixel.ColorKeep, DType: formats.Float32, Transforms: []augment.Op{norm}}
	floats := Pixels[float32](collect(t, makeLoader(t, ds, c), 0)[0])
	for i, s := range ds.samples {
		for j, x := range words(s.Values[0].Data) {
			want := (float32(x)/65535 - float32(norm.Mean[j%3])) / float32(norm.Std[j%3])
			if got := floats[i*90+j]; got != want {
				t.Fatalf("image %d, element %d: %v, want %v", i, j, got, want)
			}
		}
	}
	for d, bits := range map[formats.DType]float64{formats.Float16: 11, formats.BFloat16: 8} {
		c.DType = d
		half := Pixels[uint16](collect(t, makeLoader(t, ds, c), 0)[0])
		for i, x := range floats {
			got := float64(halfValue(d, half[i]))
			if off := math.Abs(got - float64(x)); off > math.Abs(float64(x))*math.Pow(2, -bits)+0x1p-25 {
				t.Fatalf("%s: element %d is %v for %v", d, i, got, x)
			}
		}
	}
}

// halfValue is what the bits of d mean.
func halfValue(d formats.DType, bits uint16) float32 {
	if d == formats.BFloat16 {
		return math.Float32frombits(uint32(bits) << 16)
	}
	exponent, mantissa := int(bits>>10&31), float64(bits&1023)
	x := math.Ldexp(1024+mantissa, exponent-25)
	if exponent == 0 {
		x = math.Ldexp(mantissa, -24)
	}
	if bits>>15 == 1 {
		x = -x
	}
	return float32(x)
}

func TestWhatBatchesOfIntegersRefuse(t *testing.T) {
	for _, tt := range []struct {
		ds   *memory
		c    Config
		want string
	}{
		{rawImages(2, 4, 4, 3), Config{DType: formats.Uint16, Transforms: []augment.Op{augment.ImageNet}}, "float32"},
		{deepImages(2, 4, 4, 3), Config{DType: formats.Uint8, Color: pixel.ColorKeep}, "16 bits"},
		{rawImages(2, 4, 4, 3), Config{DType: formats.Uint16, Transforms: []augment.Op{augment.MixUp{Alpha: 1}}}, "mixup"},
	} {
		tt.c.BatchSize = 2
		l, err := New(tt.ds, tt.c)
		if err == nil {
			_, err = drain(l)
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %v: error %v, want one with %q", tt.c.DType, tt.c.Transforms, err, tt.want)
		}
	}
}
