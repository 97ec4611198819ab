// Package verify finds damage in a dataset: it checks everything that is recorded about it, so that
// every flipped bit is found. These are the checksum of every block of every file; and the key, order,
// location, size, encoding, label and checksum of every sample.
//
//	report, err := verify.Run(ctx, dsconv.Formats(), "out.lmdb", verify.Options{})
//	...
//	if !report.Sound() {
//		fmt.Println(report.Dataset, report.Blocks, report.Samples)
//	}
//
// edit.Repair restores what is damaged from the images that the dataset was packed from.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Report lists the damage of a dataset. Its lists are sorted and do not depend on the number of
// workers; they are empty, not nil, if there is none.
type Report struct {
	Dataset []string         `json:"damaged_dataset"` // why it does not open, or not as a whole
	Blocks  []formats.Damage `json:"damaged_blocks"`  // by file and offset in bytes
	Samples []DamagedSample  `json:"damaged_samples"` // by key
	Checked int              `json:"samples_checked"` // 0 if nothing could be opened
	// Notes are about what is not damage but may matter to other programs.
	Notes []string `json:"notes,omitempty"`
	// NoTable: the table with the checksums of the blocks is damaged itself, so Blocks is incomplete
	// and a repair must check the samples of all files. Samples have their own checksums and are all
	// checked.
	NoTable bool `json:"-"`
	// Meta describes the dataset, as it was packed; nil if that is lost. The source for a repair is
	// opened by its Recipe.
	Meta *formats.Meta `json:"-"`
}

// DamagedSample is a sample that is not what was written.
type DamagedSample struct {
	Key   string `json:"key"`
	Cause string `json:"cause"`
}

// Sound reports whether there is no damage.
func (r *Report) Sound() bool { return len(r.Dataset)+len(r.Blocks)+len(r.Samples) == 0 }

// Options are the options of Run. The zero value reads everything.
type Options struct {
	// Quick reads no images: only the table of checksums, the names and sizes of the files, and the
	// metadata are checked.
	Quick bool
	// Workers is how many goroutines read; 0 is the number of cores.
	Workers int
	// Progress, if not nil, is called about every 100 ms and once at the end, from any goroutine but by
	// one at a time. A damaged dataset may be checked twice: then Done starts again.
	Progress func(Progress)
}

// Progress is the progress of Run.
type Progress struct {
	Done, Total int   // samples
	Bytes       int64 // of the images that were checked; also with Quick, which does not read them
	Elapsed     time.Duration
}

// ErrNoChecksums is returned for a folder, which has nothing to compare with.
var ErrNoChecksums = errors.New("it has no checksums to verify")

// Run opens the dataset at path with the format of reg that matches, or opens what is left of it, and
// checks it. Nothing is changed. Damage is in the report; the error is about the check itself: a path that
// does not exist (fs.ErrNotExist), a folder (ErrNoChecksums), a file that cannot be read, a context
// that ended.
func Run(ctx context.Context, reg formats.Registry, path string, o Options) (*Report, error) {
	switch {
	case ctx == nil:
		return nil, errors.New("verify.Run: ctx is nil: give context.Background()")
	case o.Workers < 0:
		return nil, fmt.Errorf("verify.Run: Options.Workers is %d: it must not be negative; 0 is the default", o.Workers)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := lifetime.Call(ctx, func() (formats.Format, error) { return reg.ByExistingPath(path) }, nil)
	if err != nil {
		return nil, err
	}
	o.Workers = cmp.Or(o.Workers, parallel.Cores())
	r := newReport()
	ds, err := f.Open(path)
	if err == nil {
		err = r.check(ctx, ds, path, o)
	}
	if !errors.Is(err, formats.ErrDamaged) {
		return r.orNil(err)
	}
	// Open, or a row that was read later, says what is damaged. What is left may be more.
	r = newReport(causeOf(err))
	if ds = salvage(f, path); ds == nil {
		return r, nil
	}
	if err = r.check(ctx, ds, path, o); errors.Is(err, formats.ErrDamaged) {
		r.Dataset, err = append(r.Dataset, causeOf(err)), nil
	}
	return r.orNil(err)
}

func newReport(dataset ...string) *Report {
	return &Report{Dataset: append([]string{}, dataset...), Blocks: []formats.Damage{}, Samples: []DamagedSample{}}
}

// orNil returns the report, or nil with an error.
func (r *Report) orNil(err error) (*Report, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// check checks ds, which it closes.
func (r *Report) check(ctx context.Context, ds formats.Dataset, path string, o Options) error {
	defer ds.Close()
	meta := *ds.Meta()
	r.Meta = &meta
	checker, ok := ds.(formats.Checker)
	if !ok {
		return fmt.Errorf("%s: %w", path, ErrNoChecksums)
	}
	c := newCheck(ds, checker, o, r)
	if err := c.run(ctx); err != nil {
		return err
	}
	c.count.End()
	r.sort()
	r.note(ds)
	return nil
}

// salvage opens what is left of a damaged dataset; nil if nothing is.
func salvage(f formats.Format, path string) formats.Dataset {
	s, ok := f.(formats.Salvager)
	if !ok {
		return nil
	}
	ds, err := s.Salvage(path)
	if err != nil {
		return nil // the report has the error of Open
	}
	return ds
}

func (r *Report) sort() {
	slices.SortFunc(r.Blocks, func(a, b formats.Damage) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Cause, b.Cause))
	})
	slices.SortFunc(r.Samples, func(a, b DamagedSample) int { return cmp.Compare(a.Key, b.Key) })
}

// note names the files for other programs that contain outdated names of data files.
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
			"The next edit, or dsconv verify --repair with any source, rewrites them", several(names), side, verb(names), d.OriginalNames()[0]))
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

// causeOf is an error's message without the prefix of formats.ErrDamaged, which the report implies.
func causeOf(err error) string {
	return strings.ReplaceAll(err.Error(), formats.ErrDamaged.Error()+": ", "")
}
