package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// deep is a dataset in which every other image has 16 bits per channel.
type deep struct {
	*memory
	kinds [][]byte
}

func newDeep(t *testing.T, n int) deep {
	t.Helper()
	r := image.Rect(0, 0, 12, 10)
	dark, bright, colors, shallow := image.NewGray16(r), image.NewGray16(r), image.NewNRGBA64(r), image.NewGray(r)
	for i := range 120 {
		x, y := i%12, i/12
		dark.SetGray16(x, y, color.Gray16{Y: uint16(i)})
		bright.SetGray16(x, y, color.Gray16{Y: uint16(250 + i)})
		colors.SetNRGBA64(x, y, color.NRGBA64{R: uint16(i * 500), G: 3, B: 4, A: 65535})
		shallow.SetGray(x, y, color.Gray{Y: uint8(i)})
	}
	d := deep{memory: newMemory(t, n, 0)}
	for _, m := range []image.Image{dark, bright, colors, shallow} {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		d.kinds = append(d.kinds, b.Bytes())
	}
	return d
}

func (d deep) Read(i int, s *formats.Sample) error {
	err := d.memory.Read(i, s)
	s.Values[0].Set(formats.Value{Data: d.kinds[i%4], Encoding: formats.PNG})
	return err
}

// The report lists the images that were reduced from 16 bits per channel to 8, and no others, also after
// resumes.
func TestReportNamesWhatLosesBits(t *testing.T) {
	const n = 200
	src := newDeep(t, n)
	raw := codec.Encode{Encoding: formats.Raw}
	var clipped, cut []Problem
	for i := range n {
		row := Problem{Path: fmt.Sprintf("k%05d.jpg", i), Action: ActionWritten}
		switch i % 4 {
		case 1:
			row.Cause = codec.NarrowedClipped
			clipped = append(clipped, row)
		case 2:
			row.Cause = codec.NarrowedCut
			cut = append(cut, row)
		}
	}
	for _, c := range []struct {
		recipe preprocess.Recipe
		lost   bool
	}{
		{preprocess.Recipe{Encode: raw}, true},
		{preprocess.Recipe{Encode: raw, Color: pixel.ColorGray, Strict: true}, true},
		{preprocess.Recipe{Encode: raw, Color: pixel.ColorKeep}, false},
		{preprocess.Recipe{}, false},
	} {
		o := Options{Recipe: c.recipe, Order: KeyOrder}
		r := afterStops(t, src, filepath.Join(t.TempDir(), "x.tar"), o)
		got := map[string][]Problem{}
		for _, row := range r.Table() {
			got[row.Cause] = append(got[row.Cause], row)
		}
		want := map[string][]Problem{}
		if c.lost {
			want = map[string][]Problem{codec.NarrowedClipped: clipped, codec.NarrowedCut: cut}
		}
		if r.Written != n || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: written %d; table %v", c.recipe.Map(), r.Written, got)
		}
	}
}

// afterStops runs a plan in several runs.
func afterStops(t *testing.T, src formats.Dataset, path string, o Options) *Report {
	t.Helper()
	for range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		p := plan(t, src, stopper{shard.Format{}, 70, cancel}, path, o)
		p.interval = 10
		r, err := p.Run(ctx)
		cancel()
		if err == nil {
			return r
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not end")
	return nil
}
