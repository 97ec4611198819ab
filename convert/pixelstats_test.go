package convert

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

func TestStats(t *testing.T) {
	src := newMemory(t, 30, 10)
	path := filepath.Join(t.TempDir(), "x.tar")
	r, err := plan(t, src, shard.Format{}, path, Options{Stats: true, Split: "train=0.5,val=0.5"}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ds, err := shard.Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	s := ds.Meta().PixelStats
	if s == nil || !reflect.DeepEqual(s, r.PixelStats) {
		t.Fatalf("recorded %+v, reported %+v", s, r.PixelStats)
	}
	// All images have the same pixels, so all figures are those of one, which a float gives to 1e-12.
	img, err := codec.Decode(src.photo, codec.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		var sum float64
		for i := c; i < len(img.Pix); i += 3 {
			sum += float64(img.Pix[i]) / 255
		}
		if want := sum / float64(img.H*img.W); s.Mean[c]-want > 1e-12 || want-s.Mean[c] > 1e-12 {
			t.Errorf("channel %d: mean %v, want %v", c, s.Mean[c], want)
		}
	}
	if len(s.Splits) != 2 || s.Splits[0].Mean != s.Mean || s.Splits[1].Std != s.Std {
		t.Errorf("splits: %+v", s.Splits)
	}
	if s.Images != 27 || s.Pixels != 27*40*30 || s.Bits != 8 || s.Height != (formats.SizeRange{Min: 30, Median: 30, Max: 30}) || s.Width.Max != 40 {
		t.Errorf("%+v", s)
	}
	if a := s.Classes; len(a) != 3 || a[0]+a[1]+a[2] != 27 {
		t.Errorf("classes %v", a)
	}
}

// An image that does not decode, as one of an unsupported kind that was copied, is left out of the figures.
func TestStatsLeaveOut(t *testing.T) {
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	proc, err := preprocess.NewProcessor(preprocess.Recipe{}, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	r := &run{Plan: &Plan{o: Options{Stats: true}}, schema: schema}
	j := &job{summed: true}
	j.out.Resize(1)
	j.out.Values[0].Set(formats.Value{Data: make([]byte, 30), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{2, 3, 5}})
	r.sumPixels(proc, j)
	r.addSums(j)
	if s := r.state.Sums[""]; j.err != nil || s.Images != 0 || s.Undecoded != 1 || !strings.Contains(j.warning, "statistics") {
		t.Errorf("%+v, %q, %v", s, j.warning, j.err)
	}
}

func TestStatsAreResumedOnlyWithStats(t *testing.T) {
	src := newMemory(t, 100, 0)
	for _, stats := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "x.tar")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := plan(t, src, stopper{shard.Format{}, 70, cancel}, path, Options{Stats: stats})
		p.interval = 10
		if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		_, err := plan(t, src, shard.Format{}, path, Options{Stats: !stats}).Run(t.Context())
		if !errors.Is(err, ErrCannotResume) || !strings.Contains(err.Error(), "statistics") {
			t.Errorf("stats %v: %v", stats, err)
		}
		if r, err := plan(t, src, shard.Format{}, path, Options{Stats: stats}).Run(t.Context()); err != nil || r.Resumed == 0 || (r.PixelStats != nil) != stats {
			t.Errorf("stats %v: %v", stats, err)
		}
	}
}

// A Writer that cannot record statistics is refused before any image is read.
func TestStatsNeedAWriterForThem(t *testing.T) {
	p := plan(t, newMemory(t, 3, 0), forgetful{shard.Format{}}, filepath.Join(t.TempDir(), "x.tar"), Options{Stats: true, Recipe: preprocess.Recipe{}})
	if r, err := p.Run(t.Context()); err == nil || r.Written != 0 || !strings.Contains(err.Error(), "statistics") {
		t.Errorf("%v", err)
	}
}

type forgetful struct{ formats.WritableFormat }

func (f forgetful) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := f.WritableFormat.Create(path, m, o)
	return struct{ formats.Writer }{w}, err
}
