package convert

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// The size measured on some samples is about the size of the packed dataset.
func TestMeasurePredictsThePack(t *testing.T) {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	fixed := preprocess.Recipe{Resize: preprocess.Resize{Mode: preprocess.ResizeCover, W: 16, H: 16}, Encode: raw}
	for name, c := range map[string]struct {
		recipe preprocess.Recipe
		within float64
	}{
		"keep":  {preprocess.Recipe{}, 0.03},
		"tiled": {preprocess.Recipe{Encode: codec.EncodeOptions{Tiled: true, Interval: 3}}, 0.03},
		"raw":   {preprocess.Recipe{Encode: raw}, 0.03},
		"cover": {fixed, 0.03},
		"jpeg":  {resized, 0.03},
	} {
		for file, f := range map[string]formats.WritableFormat{
			"x.lmdb": lmdb.Format{}, "x.h5": hdf5.Format{}, "x.tar": shard.Format{}, "x.tar.zst": shard.Format{},
			"x-%03d.tar": shard.Format{}, "x.tfrecord": tfrecord.Format{},
		} {
			t.Run(name+" as "+file, func(t *testing.T) {
				if c.recipe.Encode.Tiled && !jpeg.HasLibjpegTurbo {
					t.Skip("this build does not tile")
				}
				t.Setenv("TMPDIR", t.TempDir())
				dir := t.TempDir()
				o := Options{Recipe: c.recipe}
				if file == "x-%03d.tar" {
					o.Shards.Count = 4
				}
				if file == "x.tar.zst" {
					o.Create.Zstd = 3
				}
				p := plan(t, newMemory(t, 1500, 0), f, filepath.Join(dir, file), o)
				order := orderOf(p)
				m, err := p.Measure(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if m.Tried != maxMeasured || m.Skipped != 0 {
					t.Errorf("%+v", m)
				}
				empty(t, dir)
				empty(t, os.Getenv("TMPDIR"))
				if !slices.Equal(orderOf(p), order) {
					t.Error("the plan is another")
				}
				r, err := p.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				disk, err := sharded.SizeOfFiles(dir)
				if err != nil {
					t.Fatal(err)
				}
				within := c.within
				if file == "x.h5" { // its index grows by pages, beside images of 1 kB
					within = 0.05
				}
				if off := math.Abs(float64(m.Disk)/float64(disk) - 1); off > within {
					t.Errorf("measured %d bytes on disk, wrote %d: off by %.1f %%", m.Disk, disk, 100*off)
				}
				if off := math.Abs(float64(m.BytesOut)/float64(r.BytesOut) - 1); off > c.within {
					t.Errorf("measured %d bytes of images, wrote %d: off by %.1f %%", m.BytesOut, r.BytesOut, 100*off)
				}
			})
		}
	}
}

// If there are few samples, all are packed.
func TestMeasureOfFewIsExact(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, newMemory(t, 90, 0), shard.Format{}, filepath.Join(dir, "x.tar"), Options{Recipe: resized})
	m, err := p.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	disk, err := sharded.SizeOfFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Measurement{Tried: 90, BytesOut: r.BytesOut, Disk: disk}); m != want {
		t.Errorf("measured %+v, want %+v", m, want)
	}
}

// The measurement skips a share of the bad samples.
func TestMeasureCountsWhatIsSkipped(t *testing.T) {
	p := plan(t, newMemory(t, 1500, 17), shard.Format{}, filepath.Join(t.TempDir(), "x.tar"), Options{OnError: Fail})
	m, err := p.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Skipped < 4 || m.Skipped > 60 || m.BytesOut >= p.Bytes*99/100 || m.BytesOut < p.Bytes*88/100 {
		t.Errorf("%+v of %d bytes", m, p.Bytes)
	}
}

// A measurement that is interrupted leaves nothing.
func TestMeasureInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	p := plan(t, newMemory(t, 1500, 0), stopper{shard.Format{}, 100, cancel}, filepath.Join(t.TempDir(), "x.tar"), Options{})
	if _, err := p.Measure(ctx); err == nil {
		t.Error("it was interrupted")
	}
	empty(t, os.Getenv("TMPDIR"))
}

func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s has %v: %v", dir, entries, err)
	}
}
