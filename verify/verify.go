package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Report is what is wrong with a dataset.
type Report struct {
	Dataset []string         `json:"damaged_dataset"` // why it does not open, or not as a whole
	Blocks  []formats.Damage `json:"damaged_blocks"`
	Samples []Sample         `json:"damaged_samples"`
	Checked int              `json:"samples_checked"`
}

// Sample is a damaged one.
type Sample struct {
	Key   string `json:"key"`
	Cause string `json:"cause"`
}

// Sound says that nothing is wrong.
func (r *Report) Sound() bool { return len(r.Dataset)+len(r.Blocks)+len(r.Samples) == 0 }

// Options of Run.
type Options struct {
	Quick   bool // reads no images
	Workers int  // goroutines; the number of cores if it is below 1
}

// ErrNoChecksums is returned for a folder, which has nothing to be compared with.
var ErrNoChecksums = errors.New("it has no checksums to verify")

// Run opens the dataset at path, whole or what is left of it, and checks it. The error is
// about the check itself; damage is in the report, in an order that does not depend on the
// number of workers.
func Run(ctx context.Context, f formats.Format, path string, o Options) (*Report, error) {
	if o.Workers < 1 {
		o.Workers = parallel.Cores()
	}
	r := &Report{Dataset: []string{}, Blocks: []formats.Damage{}, Samples: []Sample{}}
	ds, err := f.Open(path)
	if errors.Is(err, formats.ErrDamaged) {
		r.Dataset = append(r.Dataset, err.Error())
		if ds = salvage(f, path); ds == nil {
			return r, nil
		}
	} else if err != nil {
		return nil, err
	}
	defer ds.Close()
	checker, ok := ds.(formats.Checker)
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrNoChecksums)
	}
	c := &check{ds: ds, checker: checker, o: o, report: r}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	r.sort()
	return r, nil
}

// salvage opens what is left of a damaged dataset, nil if that is nothing.
func salvage(f formats.Format, path string) formats.Dataset {
	s, ok := f.(formats.Salvager)
	if !ok {
		return nil
	}
	ds, err := s.Salvage(path)
	if err != nil {
		return nil // Open has told why
	}
	return ds
}

func (r *Report) sort() {
	slices.SortFunc(r.Blocks, func(a, b formats.Damage) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Cause, b.Cause))
	})
	slices.SortFunc(r.Samples, func(a, b Sample) int { return cmp.Compare(a.Key, b.Key) })
}
