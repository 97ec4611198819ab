package edit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// RenameReport is the result of RenameClasses.
type RenameReport struct {
	Report
	Renamed `json:"what"`
}

// Renamed is what RenameClasses found. With Options.DryRun nothing was changed.
type Renamed struct {
	Renamed []RenamedClass `json:"renamed"`
}

// RenamedClass is a class that has another name now.
type RenamedClass struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Samples int    `json:"samples"` // with that class
}

// RenameClasses renames classes of the designated label in the dataset at path; names has the new name by the
// old one. All are renamed at once, so two classes can exchange their names. The indices of classes
// do not change. The dataset records the names, so that Add knows the classes of the source.
//
// A class that the dataset lacks is an error, unless it was renamed so before, and so is a new name that another class has.
// No image is decoded. With an error of the run comes a report.
func RenameClasses(ctx context.Context, reg formats.Registry, path string, names map[string]string, o Options) (*RenameReport, error) {
	if err := o.check(ctx, "edit.RenameClasses", path); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("edit.RenameClasses: names is empty: give the new name of each class by its old one")
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	r := &renamer{target: t, names: maps.Clone(names)}
	p, err := r.plan(ctx, o.converting())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	done, err := finish(ctx, p, t.format, path, t.Len(), &o)
	return &RenameReport{Report: *done, Renamed: r.found}, err
}

type renamer struct {
	target  *target
	names   map[string]string // new name by old one
	field   int               // the designated label
	found   Renamed
	classes []string // of the new version
}

// plan plans the new version. The plan is nil if there is nothing to do.
func (r *renamer) plan(ctx context.Context, o convert.Options) (*convert.Plan, error) {
	if err := r.check(); err != nil || len(r.names) == 0 {
		return nil, err
	}
	if err := r.newClasses(); err != nil {
		return nil, err
	}
	t := r.target
	v := t.subset(func(int) bool { return true })
	v.union.meta = *withClasses(t.Meta(), r.classes)
	v.union.meta.Renamed = renamedClasses(t.Meta().Renamed, r.names)
	v.union.sources[0] = newUnionSourceAs(t.Dataset, &v.union.meta, true, &v.union.meta)
	var err error
	if v.union.removed, err = t.Removed(); err != nil {
		return nil, err
	}
	if err := r.changes(ctx, v); err != nil {
		return nil, err
	}
	if r.nothing(v) {
		r.found = Renamed{}
		return nil, nil
	}
	// Only the description changes.
	v.keepData = !t.format.Traits().ClassNames && t.inOneFile()
	return v.plan(ctx, o)
}

// nothing reports whether an earlier run did everything.
func (r *renamer) nothing(v *version) bool {
	m := r.target.Meta()
	return slices.Equal(r.classes, m.Classes()) && maps.Equal(v.union.meta.Renamed, m.Renamed) &&
		!slices.ContainsFunc(v.union.samples, func(s unionSample) bool { return s.change != nil })
}

// check checks the names, and drops those that were given before.
func (r *renamer) check() error {
	m := r.target.Meta()
	r.field = m.Schema.LabelIndex()
	if len(m.Classes()) == 0 {
		return fmt.Errorf("%w: the dataset has no names of classes", formats.ErrSchema)
	}
	if r.target.published && maps.Equal(r.names, m.Renamed) {
		clear(r.names) // an interrupted run did it, which done twice would exchange two names again
	}
	for _, from := range slices.Sorted(maps.Keys(r.names)) {
		to := r.names[from]
		switch known := slices.Contains(m.Classes(), from); {
		case to == "", to != strings.TrimSpace(to), !utf8.ValidString(to):
			return fmt.Errorf("%w: rename %q to %q: the new name must be text without white space around it", formats.ErrSchema, from, to)
		case known && from == to, !known && m.Renamed[from] == to && slices.Contains(m.Classes(), to):
			delete(r.names, from) // an earlier run did it
		case !known:
			return fmt.Errorf("%w: the dataset has no class %q; its classes are %s", formats.ErrSchema, from, shortened(m.Classes()))
		}
	}
	return nil
}

// newClasses determines the classes of the new version.
func (r *renamer) newClasses() error {
	r.classes = slices.Clone(r.target.Meta().Classes())
	owner := map[string]string{} // of each name: the class that has it now
	for i, from := range r.target.Meta().Classes() {
		to, renamed := r.names[from]
		if renamed {
			r.classes[i] = to
			r.found.Renamed = append(r.found.Renamed, RenamedClass{From: from, To: to})
		}
		name := r.classes[i]
		if other, taken := owner[name]; taken {
			if !renamed {
				from = other
			}
			return fmt.Errorf("%w: %q cannot be renamed to %q, because another class has this name: dsconv relabel --class %s --set label=%s gives its samples that class",
				formats.ErrSchema, from, name, from, name)
		}
		owner[name] = from
	}
	return nil
}

// changes sets the change of each sample whose data or row of the manifest has a name that changes, and counts the samples.
func (r *renamer) changes(ctx context.Context, v *version) error {
	classes := r.target.Meta().Classes()
	many := r.target.Meta().Schema[r.field].Kind == formats.MultiHot
	counts := make([]int, len(classes))
	shared := make([]*change, len(classes)) // by class; nil changes nothing
	for i, name := range classes {
		if _, renamed := r.names[name]; renamed && r.target.format.Traits().ClassNames {
			shared[i] = new(change)
			shared[i].setLabel(r.field, int64(i))
		}
	}
	var s formats.Sample
	for i := range v.union.samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		if many {
			if err := r.target.Read(i, &s); err != nil {
				return err
			}
			for x, set := range s.Values[r.field].Data {
				if set != 0 && x < len(counts) {
					counts[x]++
				}
			}
			continue
		}
		in, err := r.target.Info(i)
		if err != nil {
			return err
		}
		if in.Label >= 0 && in.Label < int64(len(counts)) {
			counts[in.Label]++
			v.union.samples[i].change = shared[in.Label]
		}
	}
	for k := range r.found.Renamed {
		r.found.Renamed[k].Samples = counts[slices.Index(classes, r.found.Renamed[k].From)]
	}
	return nil
}
