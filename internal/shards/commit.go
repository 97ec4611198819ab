package shards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// CommitOptions are the options of Plan.Commit. The zero value is usual.
type CommitOptions struct {
	// Quick compares the sizes of the data files instead of reading them.
	Quick bool
	// Workers read data files, 0 chooses by the number of cores.
	Workers int
	// MaxSkipped is that of convert.Options; "" is the plan's.
	MaxSkipped string
	// Memory is about how many bytes sorting may take, 0 for 256 MiB.
	Memory int64
	// Progress is that of convert.Options, with shards in the place of samples: StepCompare while they are checked.
	Progress func(convert.Progress)
}

// Removed returns the samples that were removed from the sources of dataset d by hand.
type Removed func(ctx context.Context, p *Plan, d int) ([]formats.RemovedSample, error)

// Commitment is the result of Plan.Commit.
type Commitment struct {
	// Datasets are the reports on the datasets, as those of a pack on one machine.
	Datasets []*convert.Report
	// Earlier says that all were published before.
	Earlier bool
	// Left is why a folder for shards was not removed: it has files that dsconv did not write.
	Left error
}

// missingError is returned by Plan.Commit if shards are missing, or are not as they were written.
type missingError struct {
	missing []int   // the shards that are not there
	damaged []error // for each other one what is wrong
	plan    string
	total   int
}

// maxNamed is the most shards that an error names.
const maxNamed = 20

func (e *missingError) Error() string {
	var lines []string
	if n := len(e.missing); n > 0 {
		text := make([]string, min(n, maxNamed))
		for i := range text {
			text[i] = fmt.Sprint(e.missing[i])
		}
		more := ""
		if n > maxNamed {
			more = ", ..."
		}
		lines = append(lines, fmt.Sprintf("%s: %d of %d shards are missing: %s%s; dsconv shards pack %s NUMBER packs one, and dsconv shards missing %s lists them",
			e.plan, n, e.total, strings.Join(text, ", "), more, e.plan, e.plan))
	}
	for i, one := range e.damaged {
		if i == maxNamed {
			lines = append(lines, fmt.Sprintf("and %d more shards", len(e.damaged)-i))
			break
		}
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors about shards that are damaged or another plan's.
func (e *missingError) Unwrap() []error { return e.damaged }

// Missing returns the numbers of the shards that are not there yet, none if the plan was committed. Shards that are
// damaged are there.
func (p *Plan) Missing(ctx context.Context, reg formats.Registry) ([]int, error) {
	var missing []int
	for k := range p.Datasets {
		d := &p.Datasets[k]
		w := p.work(d)
		if err := w.check(); err != nil {
			if _, err := p.gone(ctx, reg, d, p.first(d), err); err != nil {
				return nil, err
			}
			continue
		}
		for i := range d.Shards {
			if _, err := w.read(i, d); errors.Is(err, errMissing) {
				missing = append(missing, p.first(d)+i)
			}
		}
	}
	return missing, nil
}

// Commit checks all shards, publishes the datasets and removes the folders for shards. Nothing is published unless all
// shards of all datasets are there and whole: else the error is a *missingError. It may be repeated after a kill or an
// error, and after it is done. formats.ErrLocked if another process commits.
func (p *Plan) Commit(ctx context.Context, reg formats.Registry, o CommitOptions, removed Removed) (*Commitment, error) {
	c := &Commitment{}
	units := make([][]*unit, len(p.Datasets))
	before := make([]*convert.Report, len(p.Datasets)) // on those that were published, and whose folder is gone
	bad := &missingError{plan: p.file, total: p.Shards}
	for k := range p.Datasets {
		d := &p.Datasets[k]
		err := p.work(d).check()
		switch {
		case err == nil:
			units[k] = p.units(d, bad)
		case errors.Is(err, errNoWork):
			before[k], err = p.committed(ctx, reg, d)
		}
		if err != nil {
			return c, err
		}
	}
	if len(bad.missing)+len(bad.damaged) > 0 {
		return c, bad
	}
	c.Earlier = true
	for k := range p.Datasets {
		r, earlier := before[k], true
		if r == nil {
			var err error
			if r, earlier, err = p.commit(ctx, reg, k, units[k], o, removed); err != nil {
				return c, err
			}
		}
		c.Datasets, c.Earlier = append(c.Datasets, r), c.Earlier && earlier
	}
	for k := range p.Datasets {
		if err := p.work(&p.Datasets[k]).sweep(); errors.Is(err, formats.ErrForeign) {
			c.Left = errors.Join(c.Left, err)
		} else if err != nil {
			return c, err
		}
	}
	return c, nil
}

// units reads what the folders of the shards have. bad gets what is wrong.
func (p *Plan) units(d *Dataset, bad *missingError) []*unit {
	w, first := p.work(d), p.first(d)
	list := make([]*unit, d.Shards)
	for i := range list {
		u, err := w.read(i, d)
		switch {
		case errors.Is(err, errMissing):
			bad.missing = append(bad.missing, first+i)
		case err == nil && u.Shard != first+i:
			err = fmt.Errorf("%s: %w: it has shard %d", w.shard(i), formats.ErrDamaged, u.Shard)
		}
		if err != nil && !errors.Is(err, errMissing) {
			bad.damaged = append(bad.damaged, fmt.Errorf("shard %d: %w: %s", first+i, err, p.again(first+i)))
		}
		list[i] = u
	}
	return list
}

// commit publishes dataset k; earlier says that a commit that was killed had done that.
func (p *Plan) commit(ctx context.Context, reg formats.Registry, k int, units []*unit, o CommitOptions, removed Removed) (_ *convert.Report, earlier bool, err error) {
	d := &p.Datasets[k]
	f, err := writable(reg, d.Format)
	if err != nil {
		return nil, false, err
	}
	if err := completePublication(d.Path); err != nil {
		return nil, false, err
	}
	// A commit that was killed may have published it.
	if r, same, err := p.compareWith(ctx, reg, d); err != nil || same {
		return r, true, err
	}
	s := &convert.Stitching{Meta: d.Meta, Options: p.Options.Options}
	s.Options.Create.Memory, s.Options.Progress = o.Memory, o.Progress
	s.Options.MaxSkipped = cmp.Or(o.MaxSkipped, s.Options.MaxSkipped)
	for i, u := range units {
		s.Parts = append(s.Parts, filepath.Join(p.work(d).shard(i), d.dataFile()))
		s.Reports = append(s.Reports, u.Report)
	}
	if err := p.verify(ctx, f, d, s, o); err != nil {
		return nil, false, err
	}
	if d.Meta.History != nil {
		if s.Removed, err = removed(ctx, p, k); err != nil {
			return nil, false, err
		}
	}
	r, err := convert.Stitch(ctx, f, d.Path, s)
	return r, false, err
}

// completePublication does what is left of a commit that was killed while it published, or while it removed its staging
// folder. Another unfinished dataset stays.
func completePublication(path string) error {
	err := staging.DiscardEmpty(path)
	if errors.Is(err, formats.ErrPublished) || errors.Is(err, formats.ErrPartial) {
		return nil
	}
	return err
}
