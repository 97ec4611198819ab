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

// trial is a recipe with what was measured of it.
type trial struct {
	recipe preprocess.Recipe
	flags  string
	report *convert.Report

	samples int             // that were packed
	dataset formats.Dataset // of them, packed; nil if the whole would not fit
	each    float64         // bytes of an image
	images  int64           // bytes of all images, extrapolated
	pack    float64         // seconds of packing all, extrapolated
	disk    map[string]int64
	why     string // the reason why it was not measured

	psnr, ssim float64 // 0 if the pixels are equal or were not compared
	costs      verdict.Costs
	meter      *meter
}

const (
	firstTry  = 24 // images that are packed first, to know how many more can be
	leastTry  = 32
	sizeTry   = 512      // images that a format's overhead is measured with
	sizeBytes = 32 << 20 // about the most bytes of them
)

// packer packs samples into a temporary folder.
type packer struct {
	o      *Options
	src    *source
	dir    string
	format formats.WritableFormat // in which all candidates are loaded
	here   Machine
	next   int
}

// try packs as much of the sample by t's recipe as the options allow, and extrapolates.
func (p *packer) try(ctx context.Context, t *trial) error {
	first := min(firstTry, len(p.src.indices))
	report, seconds, _, err := p.pack(ctx, t.recipe, newSubset(p.src.ds, spread(p.src.indices, first), p.src.split))
	if err != nil {
		return err
	}
	t.report, t.samples, t.pack = report, first, seconds*float64(p.src.count)/float64(first)
	p.extrapolate(t, spread(p.src.indices, first))
	if t.why = p.misfit(t); t.why != "" || report.Written == 0 {
		return nil
	}
	n := p.affordable(t, first, seconds)
	indices := spread(p.src.indices, n)
	report, all, path, err := p.pack(ctx, t.recipe, newSubset(p.src.ds, indices, p.src.split))
	if err != nil {
		return err
	}
	t.report, t.samples = report, n
	// A pack has a fixed time, and a time for each image.
	if perImage := (all - seconds) / float64(max(n-first, 1)); n > 2*first && perImage > 0 {
		t.pack = all + perImage*float64(p.src.count-int64(n))
	} else {
		t.pack = all * float64(p.src.count) / float64(n)
	}
	p.extrapolate(t, indices)
	if t.dataset, err = p.format.Open(path); err != nil {
		return err
	}
	return p.sizes(ctx, t)
}

// affordable is how many samples can be packed within the options' limits, after first took so many seconds.
func (p *packer) affordable(t *trial, first int, seconds float64) int {
	byBytes := int(float64(p.o.SampleBytes) / max(t.each, 1))
	byTime := int(p.o.TrySeconds / max(seconds, 1e-6) * float64(first))
	return min(len(p.src.indices), max(min(byBytes, byTime), leastTry))
}

// pack writes ds by a recipe to a dataset of the packer's format.
func (p *packer) pack(ctx context.Context, r preprocess.Recipe, ds formats.Dataset) (report *convert.Report, seconds float64, path string, err error) {
	return p.packAs(ctx, p.format, r, ds)
}

func (p *packer) packAs(ctx context.Context, f formats.WritableFormat, r preprocess.Recipe, ds formats.Dataset) (*convert.Report, float64, string, error) {
	p.next++
	dir := filepath.Join(p.dir, fmt.Sprint(p.next))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, 0, "", err
	}
	path := filepath.Join(dir, "sample"+suffixes[f.Name()])
	begin := time.Now()
	report, err := convert.Run(ctx, ds, f, path, convert.Options{Recipe: r, OnError: convert.Skip, MaxSkipped: "100%"})
	if errors.Is(err, unix.ENOSPC) {
		err = fmt.Errorf("%w: choose a folder on another disk with --dir or TMPDIR", err)
	}
	if err != nil {
		return nil, 0, "", fmt.Errorf("pack %d images of %s to try: %w", ds.Len(), p.src.path, err)
	}
	return report, time.Since(begin).Seconds(), path, nil
}

// extrapolate sets the bytes of an image and of all images from what was packed of the samples at indices.
func (p *packer) extrapolate(t *trial, indices []int32) {
	if t.report.Written == 0 {
		return
	}
	t.each = float64(t.report.BytesOut) / float64(t.report.Written)
	tried := float64(t.report.Written + len(t.report.Skipped))
	t.images = int64(float64(t.report.BytesOut) * float64(p.src.count) / tried)
	if r := t.recipe; r.Resize.Mode == preprocess.ResizeNone && !r.Encode.Encoding.IsRaw() && t.report.BytesIn > 0 {
		// An image that keeps its size is about as large as its file.
		t.images = int64(float64(t.report.BytesOut) * float64(p.src.bytes) / float64(p.bytesOf(indices)))
	}
}

// bytesOf is the size of the source's images at indices.
func (p *packer) bytesOf(indices []int32) (sum int64) {
	for _, i := range indices {
		if in, err := p.src.ds.Info(int(i)); err == nil {
			sum += in.Size
		}
	}
	return max(sum, 1)
}

// sizes sets the bytes of the whole dataset in each format. What a dataset needs besides its images is a fixed size, and
// a size for each image, so it is measured on two numbers of images.
func (p *packer) sizes(ctx context.Context, t *trial) error {
	n := min(t.dataset.Len(), sizeTry, max(int(sizeBytes/max(t.each, 1)), leastTry))
	for _, name := range p.o.Formats {
		f, err := formatNamed(name)
		if err != nil {
			return err
		}
		all, err := p.overhead(ctx, f, t.dataset, n)
		if err != nil {
			return err
		}
		half, err := p.overhead(ctx, f, t.dataset, n/2)
		if err != nil {
			return err
		}
		each := float64(all-half) / float64(max(n-n/2, 1))
		t.disk[name] = t.images + all + int64(each*float64(p.src.count-int64(n)))
	}
	return nil
}

// overhead is the size of a dataset of n of ds's samples without its images.
func (p *packer) overhead(ctx context.Context, f formats.WritableFormat, ds formats.Dataset, n int) (int64, error) {
	if n == 0 {
		return 0, nil
	}
	report, _, path, err := p.packAs(ctx, f, preprocess.Recipe{}, newSubset(ds, spread(firstN(ds.Len()), n), p.src.split))
	if err != nil {
		return 0, err
	}
	dir := filepath.Dir(path)
	bytes, err := sharded.SizeOfFiles(dir)
	return bytes - report.BytesOut, errors.Join(err, os.RemoveAll(dir))
}
