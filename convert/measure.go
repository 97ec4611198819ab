package convert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/preprocess"
)

const (
	// measured is how many samples Measure packs at most, and measuredBytes is about how much they
	// may take.
	maxMeasured      = 256
	maxMeasuredBytes = 64 << 20
)

// Measurement is what a plan would write, extrapolated from some of its samples.
type Measurement struct {
	Tried    int   `json:"tried"`             // samples that were packed
	Skipped  int   `json:"skipped,omitempty"` // of them
	Narrowed int   `json:"narrowed,omitempty"`
	BytesOut int64 `json:"bytes_out"` // of all images as written
	Disk     int64 `json:"disk"`      // of all files
}

// Measure packs some samples of the plan, evenly spread, into a folder of its own for temporary
// files, which is gone afterwards, and extrapolates what all would take. It is exact where the plan
// has no more samples than that. Nothing is written to the plan's path.
func (p *Plan) Measure(ctx context.Context) (m Measurement, err error) {
	dir, err := os.MkdirTemp("", "dsconv-measure-")
	if err != nil {
		return m, fmt.Errorf("a folder to measure what %s would take: %w", p.Path, err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil {
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
	// What a dataset takes besides its images is a part that all have, and one for each sample.
	each := float64(all.overhead()-half.overhead()) / float64(n-n/2)
	m.Disk = m.BytesOut + all.overhead() + int64(each*float64(p.Len()-n))
	return m, nil
}

// measuredSamples is how many samples Measure packs, an even number unless it is all.
func (p *Plan) measureCount() int {
	each := max(1, max(p.ExpectedBytes, p.Bytes)/int64(p.Len()))
	return min(p.Len(), 2*int(min(max(maxMeasuredBytes/each, 8), maxMeasured)/2))
}

// tried is a plan's part that was packed.
type trial struct {
	report *Report
	bytes  int64 // of the sources
	disk   int64
}

// besides is what the files take that is not the images.
func (t *trial) overhead() int64 { return t.disk - t.report.BytesOut }

// try packs n samples, evenly spread, into a folder.
func (p *Plan) packSome(ctx context.Context, dir string, n int) (*trial, error) {
	part := *p
	part.Path = filepath.Join(dir, filepath.Base(p.Path))
	part.o.Fail, part.o.Quarantine, part.o.Progress = false, "", nil
	part.order, part.Bytes, part.ExpectedBytes = nil, 0, 0
	h := newFingerprint()
	for k := range n {
		if err := part.addSample(int(p.order[k*p.Len()/n]), h); err != nil {
			return nil, err
		}
	}
	part.fingerprint = h.sum()
	part.Shards, part.files = 1, []outputFile{{end: n}}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	report, err := part.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("try to pack %d of %d samples: %w", n, p.Len(), err)
	}
	t := &trial{report: report, bytes: part.Bytes}
	t.disk, err = atrest.SizeOfFiles(dir)
	return t, err
}

// extrapolate is the bytes of all images as written. Images that keep their size take what their
// sources take, more or less; others one like another.
func (p *Plan) extrapolate(t *trial) int64 {
	if r := p.o.Recipe; r.Resize.Mode == preprocess.ResizeNone && t.bytes > 0 {
		return int64(float64(t.report.BytesOut) * float64(p.Bytes) / float64(t.bytes))
	}
	return int64(float64(t.report.BytesOut) * float64(p.Len()) / float64(len(t.report.Skipped)+t.report.Written))
}
