package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Report is what is wrong with a dataset.
type Report struct {
	Dataset []string         `json:"damaged_dataset"` // why it does not open, or not as a whole
	Blocks  []formats.Damage `json:"damaged_blocks"`
	Samples []Sample         `json:"damaged_samples"`
	Checked int              `json:"samples_checked"`
	// Notes say what is no damage and may matter to other programs.
	Notes []string `json:"notes,omitempty"`
	// NoTable: the table of checksums cannot be used, so that Blocks tell nothing.
	NoTable bool `json:"-"`
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
		r.Dataset = append(r.Dataset, causeOf(err))
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
	r.note(ds)
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

// note says which files for other programs tell of names that the data files have no more.
func (r *Report) note(ds formats.Dataset) {
	d, ok := ds.(interface {
		StaleIndexFiles() (sidecar string, names []string)
		OriginalNames() []string
	})
	if !ok {
		return
	}
	if side, names := d.StaleIndexFiles(); len(names) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the dataset was renamed or copied since it was written; %s in %s, for other programs, still %s the name %s. "+
			"The next edit, or dsconv verify --repair with any source, writes them anew", several(names), side, verb(names), d.OriginalNames()[0]))
	}
}

func several(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d more files", names[0], len(names)-1)
	}
	return strings.Join(names, " and ")
}

func verb(names []string) string {
	if len(names) == 1 {
		return "has"
	}
	return "have"
}

// causeOf is what an error says, without the word that stands before it in the report.
func causeOf(err error) string {
	return strings.ReplaceAll(err.Error(), formats.ErrDamaged.Error()+": ", "")
}
