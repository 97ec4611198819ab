package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

// roundTrip writes images and texts of many sizes under hard keys, in splits, with the
// user's columns, and more than one checksum's block of them.
func (s suite) roundTrip(t *testing.T) {
	keys := hardKeys()
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("filler/%05d", i))
	}
	sizes := []int{16, 17, 511, 512, 513, 1023, 1024, 1536, 4095, 4096, 4097, 65536, 1 << 20, 3 << 19}
	texts := []int{0, 1, 511, 512, 513, 0, 5000, 70000}
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"a", "b, c", "д"}},
		{Name: "caption", Kind: formats.Text},
	}
	c := newSetOf(schema, keys, func(r *rand.Rand, i int) []formats.Value {
		size := 16 + r.IntN(3000)
		if i < len(sizes) {
			size = sizes[i]
		}
		return []formats.Value{encoded(r, formats.JPEG, size), label(int64(i%4) - 1), plain(noise(r, texts[i%len(texts)]))}
	})
	c.columns = []string{"label", "photographer", "key"}
	for i := range c.samples {
		c.samples[i].Split = []string{"train", "val", ""}[i%3]
		c.samples[i].Columns = []string{fmt.Sprint(i), []string{"", "Ann", "Бо\n"}[i%3], "x"}
		c.samples[i].Source.Path += []string{"", ".png", "\n"}[i%3]
	}
	ds := s.open(t, s.write(t, c))
	same(t, ds, c)
	// Samples without a split are in none.
	if splits := ds.Meta().Splits; len(splits) != 2 || splits[0].Name != "train" || splits[1].Name != "val" {
		t.Errorf("splits %+v, want train and val", splits)
	}
}

// kinds round-trips a set for each way that fields come.
func (s suite) kinds(t *testing.T) {
	for name, c := range kindSets() {
		t.Run(name, func(t *testing.T) { same(t, s.open(t, s.write(t, c)), c) })
	}
}

func kindSets() map[string]set {
	const n = 40
	img := formats.Field{Name: "image", Kind: formats.Image}
	cls := formats.Field{Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}}
	typed := func(t formats.DType, shape ...int) formats.Field {
		return formats.Field{Name: "image", Kind: formats.Image, DType: t, Shape: shape}
	}
	images := func(f formats.Field, image func(r *rand.Rand, i int) formats.Value) set {
		return newSet(formats.Schema{f, cls}, n, func(r *rand.Rand, i int) []formats.Value {
			return []formats.Value{image(r, i), label(int64(i%3) - 1)}
		})
	}
	encodings := []formats.Encoding{formats.JPEG, formats.PNG, formats.BMP, formats.GIF, formats.TIFF, formats.WebP}
	return map[string]set{
		"stereo":     stereo(n),
		"every kind": everyKind(n),
		"mixed encodings": images(img, func(r *rand.Rand, i int) formats.Value {
			return encoded(r, encodings[i%len(encodings)], 20+r.IntN(500))
		}),
		"no labels": newSet(formats.Schema{img}, n, func(r *rand.Rand, _ int) []formats.Value {
			return []formats.Value{encoded(r, formats.PNG, 20+r.IntN(500))}
		}),
		"multi-hot": newSet(formats.Schema{img, {Name: "tags", Kind: formats.MultiHot, Classes: []string{"a", "b", "c"}}}, n,
			func(r *rand.Rand, _ int) []formats.Value {
				return []formats.Value{encoded(r, formats.JPEG, 20+r.IntN(500)), multiHot(r, 3)}
			}),
		"numbers": numbers(n),
		"label before image": newSet(formats.Schema{cls, img}, n, func(r *rand.Rand, i int) []formats.Value {
			return []formats.Value{label(int64(i % 2)), encoded(r, formats.JPEG, 20+r.IntN(500))}
		}),
		"raw uint8 uniform":  images(typed(formats.Uint8, 7, 5, 3), func(r *rand.Rand, _ int) formats.Value { return raw(r, formats.Uint8, 7, 5, 3) }),
		"raw uint16 uniform": images(typed(formats.Uint16, 4, 6, 1), func(r *rand.Rand, _ int) formats.Value { return raw(r, formats.Uint16, 4, 6, 1) }),
		"raw uint8 varying": images(typed(formats.Uint8, -1, -1, 3), func(r *rand.Rand, _ int) formats.Value {
			return raw(r, formats.Uint8, 1+r.IntN(40), 1+r.IntN(40), 3)
		}),
		"raw uint16 varying": images(typed(formats.Uint16, -1, -1, -1), func(r *rand.Rand, _ int) formats.Value {
			return raw(r, formats.Uint16, 1+r.IntN(40), 1+r.IntN(40), 1+2*r.IntN(2))
		}),
		"raw+zstd uniform": images(typed(formats.Uint8, 16, 16, 3), func(r *rand.Rand, _ int) formats.Value {
			return zstded(raw(r, formats.Uint8, 16, 16, 3))
		}),
		"raw+zstd varying": images(typed(formats.Uint8, -1, -1, 3), func(r *rand.Rand, _ int) formats.Value {
			return zstded(raw(r, formats.Uint8, 1+r.IntN(40), 1+r.IntN(40), 3))
		}),
		"raw+zstd uint16": images(typed(formats.Uint16, -1, -1, 1), func(r *rand.Rand, _ int) formats.Value {
			return zstded(raw(r, formats.Uint16, 1+r.IntN(40), 1+r.IntN(40), 1))
		}),
	}
}

// numbers are images with a number to predict, which some lack, and with extra fields of numbers.
func numbers(n int) set {
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "age", Kind: formats.Number, DType: formats.Float32},
		{Name: "height", Kind: formats.Number},
		{Name: "kind", Kind: formats.Label, Classes: []string{"a", "b"}},
	}
	missing := math.Float32frombits(0x7fc00000)
	return newSet(schema, n, func(r *rand.Rand, i int) []formats.Value {
		age := []float32{r.Float32(), -0.5, 1e-40, missing}[i%4]
		return []formats.Value{encoded(r, formats.JPEG, 20+r.IntN(500)), number(age), number(float32(i)), label(int64(i%3) - 1)}
	})
}

// stereo is a pair of images with a 16-bit mask, boxes, a caption and two labels.
func stereo(n int) set {
	schema := formats.Schema{
		{Name: "left", Kind: formats.Image},
		{Name: "right", Kind: formats.Image},
		{Name: "depth", Kind: formats.Mask},
		{Name: "boxes", Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		{Name: "caption", Kind: formats.Text},
		{Name: "scene", Kind: formats.Label, Classes: []string{"street", "room"}},
		{Name: "weather", Kind: formats.Label, Classes: []string{"sun", "rain", "snow"}},
	}
	return newSet(schema, n, func(r *rand.Rand, i int) []formats.Value {
		caption := []string{"", "two cats, one \"table\"", "zwei\nZeilen"}[i%3]
		return []formats.Value{
			encoded(r, formats.JPEG, 20+r.IntN(900)), encoded(r, []formats.Encoding{formats.JPEG, formats.PNG}[i%2], 20+r.IntN(900)),
			depthPNG(r, 3+i%4, 5), boxes(r, i%5), plain([]byte(caption)), label(int64(i%3) - 1), label(int64(i%4) - 1),
		}
	})
}

// everyKind has a field of each kind, tensors of each element type, and masks that are raw.
func everyKind(n int) set {
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "mask", Kind: formats.Mask},
		{Name: "boxes", Kind: formats.Boxes},
		{Name: "label", Kind: formats.Label},
		{Name: "tags", Kind: formats.MultiHot},
		{Name: "pose", Kind: formats.Array, DType: formats.Float32, Shape: []int{4, 4}},
		{Name: "points", Kind: formats.Array, DType: formats.Int64, Shape: []int{-1, 2}},
		{Name: "hist", Kind: formats.Array, DType: formats.Uint16},
		{Name: "scalar", Kind: formats.Array, DType: formats.Float32, Shape: []int{}},
		{Name: "caption", Kind: formats.Text},
		{Name: "extra", Kind: formats.JSON},
		{Name: "blob-1_X", Kind: formats.Bytes},
	}
	return newSet(schema, n, func(r *rand.Rand, i int) []formats.Value {
		return []formats.Value{
			encoded(r, formats.JPEG, 20+r.IntN(900)), raw(r, formats.Uint16, 1+i%5, 3, 1), boxes(r, i%3), label(int64(i) << 40), multiHot(r, 70),
			raw(r, formats.Float32, 4, 4), raw(r, formats.Int64, i%4, 2), raw(r, formats.Uint16, 1+i%3, 2, 2), raw(r, formats.Float32),
			plain([]byte("caption")), plain([]byte(`{"a": [1, 2.5, null]}`)), plain(noise(r, r.IntN(40))),
		}
	})
}

var encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // nil options cannot fail

func zstded(v formats.Value) formats.Value {
	v.Data, v.Encoding = encoder.EncodeAll(v.Data, nil), formats.RawZstd
	return v
}
