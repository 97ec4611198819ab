package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/preprocess"
)

// trial is a recipe with what was measured of it: its row, and what that is made of.
type trial struct {
	Row
	recipe  preprocess.Recipe
	report  *convert.Report
	dataset formats.Dataset // some samples, packed; nil if the whole would not fit
	images  int64           // bytes of all images, extrapolated
	path    string          // of dataset
	costs   verdict.Costs
}

const (
	firstTry = 24 // images that are packed first, to know how many more can be
	leastTry = 32
)

// packed is a dataset of some samples.
type packed struct {
	report  *convert.Report
	path    string
	seconds float64
	beside  float64 // bytes of its files without the images
}

// tryPack packs as much of the sample by t's recipe as the effort allows, and extrapolates.
func (e *exploration) tryPack(ctx context.Context, t *trial) error {
	src, effort := e.src, &e.o.effort
	n := min(firstTry, len(src.indices))
	first, err := e.packSome(ctx, t, n)
	if err != nil || t.Unfit != "" || t.report.Written == 0 {
		return err
	}
	each := float64(t.report.BytesOut) / float64(t.report.Written)
	byBytes, byTime := int(float64(effort.bytes)/max(each, 1)), int(effort.packSeconds/max(first.seconds, 1e-6)*float64(n))
	all := min(len(src.indices), max(min(byBytes, byTime), leastTry))
	second, err := e.packSome(ctx, t, all)
	if err != nil {
		return err
	}
	// A pack has a fixed time, and a time for each image; so has its size besides the images.
	more, left := float64(max(all-n, 1)), float64(src.count-int64(all))
	if perImage := (second.seconds - first.seconds) / more; all > 2*n && perImage > 0 {
		t.PackSeconds = second.seconds + perImage*left
	} else {
		t.PackSeconds = second.seconds * float64(src.count) / float64(all)
	}
	t.Disk = t.images + int64(second.beside+max(0, second.beside-first.beside)/more*left)
	t.path = second.path
	t.dataset, err = e.format.Open(t.path)
	return err
}

// packSome packs n of the samples, and extrapolates the bytes of all images.
func (e *exploration) packSome(ctx context.Context, t *trial, n int) (p packed, err error) {
	src := e.src
	indices := spread(src.indices, n)
	if p, err = e.pack(ctx, t.recipe, newSubset(src.ds, indices, src.split)); err != nil || p.report.Written == 0 {
		t.report = p.report
		return p, err
	}
	report := p.report
	t.report, t.Sampled = report, n
	t.images = int64(float64(report.BytesOut) * float64(src.count) / float64(report.Written+len(report.Skipped)))
	if t.recipe.Resize.Mode == preprocess.ResizeNone && !t.recipe.Encode.Encoding.IsRaw() && report.BytesIn > 0 {
		var bytes int64
		for _, i := range indices {
			if in, err := src.ds.Info(int(i)); err == nil {
				bytes += in.Size
			}
		}
		// An image that keeps its size is about as large as its file.
		t.images = int64(float64(report.BytesOut) * float64(src.bytes) / float64(max(bytes, 1)))
	}
	t.Disk, t.PackSeconds, t.Unfit = t.images, p.seconds*float64(src.count)/float64(n), e.misfit(t)
	return p, nil
}

// misfit says why the whole dataset could not be used here: it must fit on the disk and,
// if it is pixels, which are slow from a disk, in memory, unless it is no larger than the source.
func (e *exploration) misfit(t *trial) string {
	memory, raw := e.here.Memory, t.recipe.Encode.Encoding == formats.Raw
	switch {
	case e.here.Free > 0 && t.images > e.here.Free:
		return fmt.Sprintf("it needs %s of disk, and %s are free", megabytes(t.images), megabytes(e.here.Free))
	case raw && memory > 0 && t.images > max(memory, e.src.bytes):
		return fmt.Sprintf("pixels are fast only from memory: it needs %s of it, and there are %s", megabytes(t.images), megabytes(memory))
	}
	return ""
}

// pack writes ds by a recipe into the temporary folder.
func (e *exploration) pack(ctx context.Context, r preprocess.Recipe, ds formats.Dataset) (p packed, err error) {
	dir, err := os.MkdirTemp(e.dir, "")
	if err != nil {
		return p, err
	}
	p.path = filepath.Join(dir, "sample"+suffixes[e.o.Format])
	begin := time.Now()
	p.report, err = convert.Run(ctx, ds, e.format, p.path, convert.Options{Recipe: r, OnError: convert.Skip, MaxSkipped: "100%"})
	if errors.Is(err, unix.ENOSPC) {
		err = fmt.Errorf("%w: choose a folder on another disk with --dir or TMPDIR", err)
	}
	if err != nil {
		return p, fmt.Errorf("pack %d images of %s to try: %w", ds.Len(), e.src.path, err)
	}
	p.seconds = time.Since(begin).Seconds()
	bytes, err := sharded.SizeOfFiles(dir)
	p.beside = float64(bytes - p.report.BytesOut)
	return p, err
}

// subset is some samples of a dataset, in key order. It does not own the dataset.
type subset struct {
	formats.Dataset
	meta    formats.Meta
	indices []int32
}

// newSubset returns the samples of ds at indices, all of one split, as a dataset.
func newSubset(ds formats.Dataset, indices []int32, split string) *subset {
	s := &subset{Dataset: ds, meta: *ds.Meta(), indices: indices}
	s.meta.Count, s.meta.Splits = len(indices), nil
	if split != "" {
		s.meta.Splits = []formats.Split{{Name: split, Count: len(indices)}}
	}
	return s
}

func (s *subset) Meta() *formats.Meta              { return &s.meta }
func (s *subset) Len() int                         { return len(s.indices) }
func (s *subset) Info(i int) (formats.Info, error) { return s.Dataset.Info(int(s.indices[i])) }
func (s *subset) Read(i int, out *formats.Sample) error {
	return s.Dataset.Read(int(s.indices[i]), out)
}

// spread are n of the indices, evenly spread.
func spread(indices []int32, n int) []int32 {
	n = min(n, len(indices))
	out := make([]int32, n)
	for k := range out {
		out[k] = indices[k*len(indices)/n]
	}
	return out
}

// firstN are the numbers from 0 to n-1.
func firstN(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
