package reader

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/hostile"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// large is a dataset of a small image, one of a million pixels in a row, and another small one.
func large(t *testing.T) *memory {
	t.Helper()
	d := photos(t, 1)
	d.add("train", formats.Value{Data: hostile.PNG(1_000_000, 1, 8, hostile.Gray), Encoding: formats.PNG})
	d.samples = append(d.samples, photos(t, 2).samples[1])
	return d
}

// An image that is over the limit, or whose transforms would make a far larger one, is a bad
// sample; what only its kept part is computed of is not.
func TestLargeImagesAreBadSamples(t *testing.T) {
	for _, c := range []struct {
		ops       string
		maxPixels int
		bad       bool
	}{
		{"resize:256,centercrop:224", 0, false},
		{"resize:256,centercrop:224", 999_999, true},
		{"resize:256,rotate:10,centercrop:224", 0, true},
		{"resize:600,blur:3,rrc:224", 0, true},
		{"rotate:10:expand,rrc:32", 0, true},
		{"resize:256:nearest,flip,centercrop:224", 0, false},
	} {
		ops, err := augment.Parse(c.ops)
		if err != nil {
			t.Fatal(err)
		}
		l := makeLoader(t, large(t), Config{BatchSize: 3, OnError: Skip, Transforms: ops, MaxPixels: c.maxPixels})
		n := 0
		for b, err := range l.Epoch(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n += b.N
		}
		_, bad := l.Bad()
		if !c.bad {
			if n != 3 || len(bad) > 0 {
				t.Errorf("%s: %d samples, bad ones %v", c.ops, n, bad)
			}
			continue
		}
		if n != 2 || len(bad) != 1 || !errors.Is(bad[0].Err, pixel.ErrTooLarge) || !strings.Contains(bad[0].Err.Error(), "sample00001") {
			t.Errorf("%s: %d samples, bad ones %v", c.ops, n, bad)
		}
	}
}

// Masks too are computed as far as they are kept.
func TestLargeMask(t *testing.T) {
	d := newMemory()
	d.meta.Schema = append(d.meta.Schema, formats.Field{Name: "mask", Kind: formats.Mask})
	image := formats.Value{Data: hostile.PNG(1_000_000, 1, 8, hostile.Gray), Encoding: formats.PNG}
	d.add("train", image)
	d.samples[0].Values = append(d.samples[0].Values, image)
	l := makeLoader(t, d, Config{BatchSize: 1, Fields: []string{"mask"}, Transforms: []augment.Op{augment.Resize{Shorter: 256}, augment.CenterCrop{H: 224, W: 224}}})
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil || len(b.Fields[0].Data) != 224*224 {
			t.Errorf("%v", err)
		}
	}
}

func TestPickOfALargeImage(t *testing.T) {
	d := large(t)
	l := makeLoader(t, d, Config{BatchSize: 1, AnySize: true, Transforms: []augment.Op{augment.Resize{Shorter: 256}}})
	b := new(Batch)
	if err := l.Pick(1, 0, b); !errors.Is(err, pixel.ErrTooLarge) || !strings.Contains(err.Error(), "sample00001") {
		t.Errorf("%v", err)
	}
	if err := l.Pick(0, 0, b); err != nil {
		t.Error(err)
	}
}

func TestNegativeMaxPixels(t *testing.T) {
	if _, err := New(rawImages(1, 2, 2, 3), Config{BatchSize: 1, MaxPixels: -1}); err == nil {
		t.Error("a negative limit is accepted")
	}
}

// A shape that a schema claims and the first sample does not have is an error, before batches of
// it are made room for.
func TestClaimedShape(t *testing.T) {
	for _, n := range []int{1 << 40, 1 << 58} {
		d := rawImages(4, 4, 4, 3)
		d.meta.Schema = append(d.meta.Schema, formats.Field{Name: "vector", Kind: formats.Array, DType: formats.Float32, Shape: []int{n}})
		for i := range d.samples {
			d.samples[i].Values = append(d.samples[i].Values, formats.Value{Data: make([]byte, 8), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{2}})
		}
		_, err := New(d, Config{BatchSize: 4, Fields: []string{"vector"}})
		if !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), "vector") {
			t.Errorf("%d elements: %v", n, err)
		}
	}
}
