package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// AddOptions are those of Add.
type AddOptions struct {
	convert.Options // workers, what to do about bad images, size of new shards, progress
	// Hash compares the bytes of files whose size and time are what they were, too.
	Hash bool
	// Prune drops the samples that the source lacks, but none of other collections that were
	// added, and not most of a collection; PruneAll drops all of them.
	Prune, PruneAll bool
	// Unread are paths of the source's files and folders that could not be looked at: what was
	// packed from there does not count as gone.
	Unread []string
	// Excluded reports whether the source has that path but not among its samples, because of its
	// patterns; nil where it has none.
	Excluded func(path string) bool
	// ResetEdits forgets what was removed and set by hand of what the source has.
	ResetEdits bool
}

// Added is what Add found.
type Added struct {
	New        int `json:"new"`
	Changed    int `json:"changed"`    // of which the image is another one now
	Relabelled int `json:"relabelled"` // of which label, split or columns are others now
	Unchanged  int `json:"unchanged"`
	Absent     int `json:"absent"` // in the dataset but not in the source: they stay
	Pruned     int `json:"pruned"` // they do not
	// KeptOut is the number of the source's samples that stay out because they were removed by
	// hand, KeptEdits of those that keep what was set by hand though the source says otherwise.
	KeptOut   int `json:"kept_out"`
	KeptEdits int `json:"kept_edits"`
	// Reset is the number of edits by hand that are forgotten, of samples set or removed.
	Reset      int      `json:"reset"`
	NewClasses []string `json:"new_classes,omitempty"`
}

// Nothing says that there is nothing to do.
func (a *Added) Nothing() bool { return a.New+a.Changed+a.Relabelled+a.Pruned+a.Reset == 0 }

// Add plans a version of t that also has the samples of src: those that t has not, and those
// that changed, by the recipe that t was packed with. A file's size and time tell that it is
// what it was; where the time differs, its bytes are compared. What was removed, or set, by
// hand stays so. The plan is nil if there is nothing to do.
func Add(ctx context.Context, t *Target, src formats.Dataset, o AddOptions) (*convert.Plan, *Added, error) {
	a := &adder{target: t, src: src, o: &o}
	var err error
	if a.split, err = convert.ParseSplit(t.Meta().Recipe["split"]); err != nil {
		return nil, nil, fmt.Errorf("%s: its recipe: %w", t.Path, err)
	}
	if err := a.buildUnion(); err != nil {
		return nil, nil, err
	}
	if err := a.compare(ctx); err != nil {
		return nil, nil, err
	}
	if err := a.prune(); err != nil {
		return nil, nil, err
	}
	if a.found.Nothing() {
		return nil, &a.found, nil
	}
	a.union.removed = a.removals.remaining()
	if a.found.New+a.found.Changed > 0 {
		a.union.meta.Recipe = withDecoder(a.union.meta.Recipe)
	}
	v := a.newVersion()
	if err := a.assignSplits(v); err != nil {
		return nil, nil, err
	}
	p, err := v.plan(o.Options)
	return p, &a.found, err
}

// adder is the state of one Add.
type adder struct {
	target *Target
	src    formats.Dataset
	o      *AddOptions
	union  *union
	pairs  []pair
	split  convert.Split // of the target's recipe
	found  Added

	removals *removals
	origin   uint16 // of what is new
}

// pair is a sample that the target has, the source has, or both; -1 where it has not.
type pair struct {
	old, src int32
	imageChanged  bool // the image does
	dropped     bool // the sample is to be dropped
	change   *change
}

// unite makes the schema of old and new.
func (a *adder) buildUnion() error {
	meta := *a.target.Meta()
	schema, err := uniteSchemas(meta.Schema, []formats.Schema{a.src.Meta().Schema}, func(int) string { return "the source" })
	if err != nil {
		return err
	}
	for _, name := range a.src.Meta().Columns {
		if !slices.Contains(meta.Columns, name) {
			return fmt.Errorf("the source: %w: it has the column %q, which the dataset has not", formats.ErrSchema, name)
		}
	}
	if l := schema.LabelIndex(); l >= 0 {
		a.found.NewClasses = schema[l].Classes[len(meta.Classes()):]
	}
	meta.Schema = schema
	a.union = &union{meta: meta}
	a.union.sources = []unionSource{newPart(a.target.Dataset, true, &meta), newPart(a.src, false, &meta)}
	src := &a.union.sources[1]
	src.marks, src.origin = nil, func(uint16) uint16 { return a.origin }
	removed, err := a.target.Removed()
	if err != nil {
		return err
	}
	a.removals = newRemovals(removed)
	return nil
}

// compare pairs the samples by key and finds out what became of each.
func (a *adder) compare(ctx context.Context) error {
	only := a.target.Meta().Recipe["only"]
	i, j := 0, 0
	for i < a.target.Len() || j < a.src.Len() {
		old, okOld, err := infoAt(a.target, i)
		if err != nil {
			return err
		}
		now, okNow, err := infoAt(a.src, j)
		if err != nil {
			return err
		}
		switch {
		case okNow && only != "" && !slices.Contains(strings.Split(only, ","), now.Split):
			j++
		case !okNow || okOld && old.Key < now.Key:
			a.pairs = append(a.pairs, pair{old: int32(i), src: -1})
			i++
		case !okOld || now.Key < old.Key:
			if a.admit(&now) {
				a.pairs = append(a.pairs, pair{old: -1, src: int32(j)})
			}
			j++
		default:
			a.pairs = append(a.pairs, pair{old: int32(i), src: int32(j)})
			i, j = i+1, j+1
		}
	}
	if err := a.compareImages(ctx); err != nil {
		return err
	}
	if err := a.compareRest(); err != nil {
		return err
	}
	return a.followRenamed(ctx)
}

func infoAt(ds formats.Dataset, i int) (in formats.Info, ok bool, err error) {
	if i >= ds.Len() {
		return in, false, nil
	}
	in, err = ds.Info(i)
	return in, true, err
}

// compareRest finds out what of label, split and columns is another one now.
func (a *adder) compareRest() error {
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 || p.src < 0 {
			continue
		}
		if p.imageChanged {
			a.found.Changed++
			if err := a.keepEditsOfChanged(p); err != nil {
				return err
			}
			continue
		}
		if err := a.compareFields(p); err != nil {
			return err
		}
		switch {
		case p.change == nil || p.change.sourceOnly():
			a.found.Unchanged++
		default:
			a.found.Relabelled++
		}
	}
	return nil
}

// version puts the union's items together.
func (a *adder) newVersion() *version {
	v := &version{target: a.target, union: a.union, newIndex: make([]int32, a.target.Len())}
	for _, p := range a.pairs {
		at := int32(len(a.union.samples))
		switch {
		case p.dropped:
			if p.old >= 0 {
				v.newIndex[p.old] = -1
			}
		case p.old < 0:
			v.added = append(v.added, at)
			a.union.samples = append(a.union.samples, unionSample{source: 1, index: p.src, change: p.change})
		case p.imageChanged:
			v.newIndex[p.old] = at
			a.union.samples = append(a.union.samples, unionSample{source: 1, index: p.src, change: p.change})
		default:
			v.newIndex[p.old] = at
			a.union.samples = append(a.union.samples, unionSample{source: 0, index: p.old, change: p.change})
		}
	}
	return v
}

// assign gives new samples their splits, as the dataset's recipe says: shares are dealt out
// over old and new ones together, but what is in a split stays there.
func (a *adder) assignSplits(v *version) error {
	dealt, err := a.split.Assign(a.union)
	if err != nil {
		return err
	}
	for old, at := range v.newIndex {
		if at < 0 {
			continue
		}
		in, err := a.target.Info(old)
		if err != nil {
			return err
		}
		it := &a.union.samples[at]
		switch {
		case it.change != nil && it.change.split != nil:
			dealt[at] = *it.change.split
		case !a.split.ByShares() && it.source == 1:
		default:
			dealt[at] = in.Split
		}
		if dealt[at] == in.Split {
			continue // it stays, also where an earlier version took its name
		}
		if err := a.checkSplit(at, dealt[at]); err != nil {
			return err
		}
	}
	for _, at := range v.added {
		if c := a.union.samples[at].change; c != nil && c.split != nil {
			dealt[at] = *c.split
		}
		if err := a.checkSplit(at, dealt[at]); err != nil {
			return err
		}
	}
	a.union.splits = dealt
	return nil
}

// checkSplit refuses the name of a split that the union's sample at gets.
func (a *adder) checkSplit(at int32, name string) error {
	err := formats.CheckSplit(name)
	if err == nil {
		return nil
	}
	in, ierr := a.union.Info(int(at))
	return errors.Join(fmt.Errorf("the source: key %q: %w", in.Key, err), ierr)
}
