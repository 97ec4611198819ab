package convert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/internal/scratch"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/preprocess"
)

const (
	// maxMeasured is the most samples that Measure packs, and maxMeasuredBytes is about the most
	// bytes of them.
	maxMeasured      = 256
	maxMeasuredBytes = 64 << 20
)

// Measurement is the expected size of a plan's output, extrapolated from some of its samples.
type Measurement struct {
	Tried    int   `json:"tried"`             // samples that were packed
	Skipped  int   `json:"skipped,omitempty"` // of them
	Narrowed int   `json:"narrowed,omitempty"`
	BytesOut int64 `json:"bytes_out"` // of all images as written
	Disk     int64 `json:"disk"`      // of all files
}

// Measure packs some samples of the plan, evenly spread, into a temporary folder, removes it, and
// extrapolates the size of the whole output. The result is exact if the plan has no more samples
// than that. Nothing is written to the plan's path.
func (p *Plan) Measure(ctx context.Context) (m Measurement, err error) {
	if err := p.checkRun(ctx); err != nil {
		return m, err
	}
	temporary, err := scratch.New("", "measure")
	if err != nil {
		return m, fmt.Errorf("measure the size of %s: %w", p.Path, err)
	}
	dir := temporary.Path
	defer func() {
		if gone := temporary.Remove(); err == nil {
			err = gone
		}
	}()
	n := p.measureCount()
	all, err := p.packSome(ctx, filepath.Join(dir, "all"), n)
	if err != nil {
		return m, err
	}
	m = Measurement{Tried: n, Skipped: len(all.report.Skipped), Narrowed: len(all.report.Narrowed)}
	if n == p.Len() {
		m.BytesOut, m.Disk = all.report.BytesOut, all.disk
		return m, nil
	}
	half, err := p.packSome(ctx, filepath.Join(dir, "half"), n/2)
	if err != nil {
		return m, err
	}
	m.BytesOut = p.extrapolate(all)
	// What a dataset needs besides its images is a fixed size, and a size per sample.
	each := float64(all.overhead()-half.overhead()) / float64(n-n/2)
	m.Disk = m.BytesOut + all.overhead() + int64(each*float64(p.Len()-n))
	return m, nil
}

// measureCount returns how many samples Measure packs: an even number, or all.
func (p *Plan) measureCount() int {
	each := max(1, max(p.expectedBytes, p.Bytes)/int64(p.Len()))
	return min(p.Len(), 2*int(min(max(maxMeasuredBytes/each, 8), maxMeasured)/2))
}

// trial is the result of packing some of a plan's samples.
type trial struct {
	report *Report
	bytes  int64 // of the sources
	disk   int64
}

// overhead returns the size of the files without the images.
func (t *trial) overhead() int64 { return t.disk - t.report.BytesOut }

// packSome packs n samples, evenly spread, into the folder dir.
func (p *Plan) packSome(ctx context.Context, dir string, n int) (*trial, error) {
	some := *p
	some.Path = filepath.Join(dir, filepath.Base(p.Path))
	some.o.OnError, some.o.Progress = Skip, nil
	some.o.Stats, some.part = false, true
	some.order, some.counts, some.Bytes, some.expectedBytes = indexList{}, map[string]int{}, 0, 0
	h := newFingerprint()
	for k := range n {
		if err := some.addSample(p.order.at(k*p.Len()/n), h); err != nil {
			return nil, err
		}
	}
	some.fingerprint = h.sum()
	some.Shards, some.files = 1, []outputFile{{end: n}}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	report, err := some.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("pack %d of %d samples to measure the size: %w", n, p.Len(), err)
	}
	t := &trial{report: report, bytes: some.Bytes}
	t.disk, err = sharded.SizeOfFiles(dir)
	return t, err
}

// extrapolate returns the expected bytes of all images as written. Without a resize an output image
// is about as large as its source; resized images are all about the same size.
func (p *Plan) extrapolate(t *trial) int64 {
	if r := p.o.Recipe; r.Resize.Mode == preprocess.ResizeNone && t.bytes > 0 {
		return int64(float64(t.report.BytesOut) * float64(p.Bytes) / float64(t.bytes))
	}
	return int64(float64(t.report.BytesOut) * float64(p.Len()) / float64(len(t.report.Skipped)+t.report.Written))
}
