package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// set is what a dataset is made of.
type set struct {
	schema  formats.Schema
	columns []string
	samples []formats.Sample
}

func (c *set) meta(format string) formats.Meta {
	m := formats.Meta{
		Format: format, Schema: c.schema, Columns: c.columns, Recipe: map[string]string{"encode": "keep", "exif": "keep"},
	}
	m.Version = m.RequiredVersion()
	return m
}

// order is the order of writing: by key, or mixed.
func (c *set) order(ordered bool) []int {
	order := rand.New(rand.NewPCG(3, 4)).Perm(len(c.samples))
	if ordered {
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(c.samples[a].Key, c.samples[b].Key) })
	}
	return order
}

// ranked are the samples by key.
func (c *set) inKeyOrder() []*formats.Sample {
	by := make([]*formats.Sample, len(c.samples))
	for rank, i := range c.order(true) {
		by[rank] = &c.samples[i]
	}
	return by
}

// newSet makes n samples of keys "k0000" on; fill makes the values.
func newSet(schema formats.Schema, n int, fill func(r *rand.Rand, i int) []formats.Value) set {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("class %d/k%04d", i%3, i)
	}
	return newSetOf(schema, keys, fill)
}

func newSetOf(schema formats.Schema, keys []string, fill func(r *rand.Rand, i int) []formats.Value) set {
	r := rand.New(rand.NewPCG(1, 2))
	c := set{schema: schema}
	for i, key := range keys {
		s := formats.Sample{Key: key, Values: fill(r, i)}
		s.Source = formats.Source{Path: key + ".jpg", Size: int64(100 + i), ModTime: 1_700_000_000_000_000_000 + int64(i)*1_000_003}
		s.Source.Hash = checksum.Hash(s.Values[schema.ImageIndex()].Data)
		s.Checksum = checksum.SampleChecksum(schema, &s)
		c.samples = append(c.samples, s)
	}
	return c
}

// photos is the usual set: JPEGs with labels.
func photos(n int) set {
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"class 0", "class 1", "class 2"}},
	}
	return newSet(schema, n, func(r *rand.Rand, i int) []formats.Value {
		return []formats.Value{encoded(r, formats.JPEG, 20+r.IntN(3000)), label(int64(i % 3))}
	})
}

var magics = map[formats.Encoding]string{
	formats.JPEG: "\xff\xd8\xff\xe0", formats.PNG: "\x89PNG\r\n\x1a\n", formats.BMP: "BM", formats.GIF: "GIF89a", formats.TIFF: "II*\x00", formats.WebP: "RIFF\x00\x00\x00\x00WEBP",
}

// encoded is noise that starts like an image of the encoding; size is at least 16.
func encoded(r *rand.Rand, e formats.Encoding, size int) formats.Value {
	data := noise(r, size)
	copy(data, magics[e])
	return formats.Value{Data: data, Encoding: e, DType: formats.Uint8, Shape: []int{1 + r.IntN(600), 1 + r.IntN(600), 3}}
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func raw(r *rand.Rand, t formats.DType, shape ...int) formats.Value {
	n := t.Size()
	for _, d := range shape {
		n *= d
	}
	return formats.Value{Data: noise(r, n), Encoding: formats.Raw, DType: t, Shape: shape}
}

func label(x int64) formats.Value {
	var v formats.Value
	v.SetInt64(x)
	return v
}

func plain(data []byte) formats.Value {
	return formats.Value{Data: data, Encoding: formats.Plain}
}

func boxes(r *rand.Rand, n int) formats.Value {
	v := formats.Value{Encoding: formats.Raw, DType: formats.Float32, Shape: []int{n, 4}}
	for range 4 * n {
		v.Data = binary.LittleEndian.AppendUint32(v.Data, math.Float32bits(r.Float32()*500))
	}
	return v
}

func number(x float32) formats.Value {
	var v formats.Value
	v.SetFloat32(x)
	return v
}

func multiHot(r *rand.Rand, n int) formats.Value {
	v := raw(r, formats.Uint8, n)
	for i := range v.Data {
		v.Data[i] &= 1
	}
	return v
}

// depthPNG is a real 16-bit PNG.
func depthPNG(r *rand.Rand, h, w int) formats.Value {
	img := image.NewGray16(image.Rect(0, 0, w, h))
	copy(img.Pix, noise(r, len(img.Pix)))
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer takes all
	return formats.Value{Data: b.Bytes(), Encoding: formats.PNG, DType: formats.Uint16, Shape: []int{h, w, 1}}
}
