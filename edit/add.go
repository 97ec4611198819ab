package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// AddOptions are the options of Add. The zero value is usual.
type AddOptions struct {
	Options
	// OnError says what happens to bad images: convert.Skip, which is the default, or convert.Fail.
	OnError convert.OnError
	// MaxSkipped is that of convert.Options. Samples that keep their old version do not count.
	MaxSkipped string
	// ShardSize is about how many bytes a new shard has; 0 is the size of the largest one.
	ShardSize int64
	// Hash compares the bytes of files even if their size and time are unchanged.
	Hash bool
	// Prune drops samples that came from this source and are not in it any more. It is an error if they are more than
	// half of those that came from it. Samples whose files the source has but could not read or excludes stay: see
	// formats.Incomplete.
	Prune bool
	// ResetEdits drops the edits by hand (removed samples, labels) of samples that the source has.
	ResetEdits bool
}

// AddReport is the result of Add.
type AddReport struct {
	Report
	Added `json:"what"`
}

// Added counts what Add found. With Options.DryRun nothing was changed.
type Added struct {
	New        int `json:"new"`
	Changed    int `json:"changed"`    // the image changed, or another field that is no label
	Relabelled int `json:"relabelled"` // only label, split or columns changed
	Unchanged  int `json:"unchanged"`
	Absent     int `json:"absent"` // not in the source, but kept
	Pruned     int `json:"pruned"` // not in the source, and dropped
	// KeptOld are the keys of samples whose files are damaged or missing now, so that they stay as they were. A dry run
	// does not find them.
	KeptOld []string `json:"kept_old,omitempty"`
	// KeptOut counts samples of the source that are not added because they were removed by hand,
	// KeptEdits samples that keep what was set by hand although the source has other values.
	KeptOut   int `json:"kept_out"`
	KeptEdits int `json:"kept_edits"`
	// Reset counts samples whose edits by hand are dropped, and classes that get their names in the source again.
	Reset      int      `json:"reset"`
	NewClasses []string `json:"new_classes,omitempty"`
	// ChangedFields counts the samples whose image stayed, by the fields that changed: masks, boxes, texts.
	ChangedFields map[string]int `json:"changed_fields,omitempty"`
}

// nothing reports whether there is nothing to do.
func (a *Added) nothing() bool { return a.New+a.Changed+a.Relabelled+a.Pruned+a.Reset == 0 }

// Add adds the new and changed samples of src to the dataset at path, processed by the recipe that the
// dataset was packed with. An image file of the same size and time is unchanged; if the time differs, its
// bytes are compared. Masks, boxes, texts and other fields have no times: all of them are read, processed as the
// recipe says, and compared. Labels, splits and columns become those of src; edits by hand are kept. src stays open.
//
// A dataset that was packed from a table of labels needs src to be opened with the same table, and with
// folder.Config's Like set to the dataset's Meta.SourceSchema: then class indices are read as they were.
//
// Bad images are skipped and listed in the report's Run, unless OnError is convert.Fail. What could not be read
// (formats.Unreadable) ends the edit, and the dataset stays as it is. With an error of the run comes a report. Adding a
// dataset to itself does nothing.
func Add(ctx context.Context, reg formats.Registry, path string, src formats.Dataset, o AddOptions) (*AddReport, error) {
	if err := o.check(ctx, path, src); err != nil {
		return nil, err
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	a := &adder{target: t, src: src, o: &o}
	p, err := a.plan(ctx)
	if err != nil {
		return nil, err
	}
	r, err := finish(ctx, p, t.format, path, t.Len(), &o.Options)
	if err == nil && r.Run != nil {
		err = a.countSkipped(r.Run)
	}
	return &AddReport{Report: *r, Added: a.found}, err
}

func (o *AddOptions) check(ctx context.Context, path string, src formats.Dataset) error {
	if _, tells := src.(formats.Incomplete); o.Prune && !tells && src.Meta().Format == "folder" {
		return errors.New("edit.Add: Prune with a folder in a wrapper that hides which files could not be read: " +
			"give the *folder.Dataset itself, or a wrapper with the methods of formats.Incomplete")
	}
	return cmp.Or(notNegative("edit.Add", "ShardSize", o.ShardSize),
		o.Options.check(ctx, "edit.Add", path))
}

func (o *AddOptions) converting() convert.Options {
	c := o.Options.converting()
	c.OnError, c.Shards.Size, c.MaxSkipped = o.OnError, o.ShardSize, o.MaxSkipped
	return c
}

// plan plans the new version. The plan is nil if there is nothing to do.
func (a *adder) plan(ctx context.Context) (*convert.Plan, error) {
	a.split = convert.Splitter(a.target.Meta().Recipe["split"])
	if err := a.split.Validate(); err != nil {
		return nil, fmt.Errorf("%s: its recipe: %w", a.target.path, err)
	}
	if err := a.buildUnion(); err != nil {
		return nil, err
	}
	if err := a.compare(ctx); err != nil {
		return nil, err
	}
	if err := a.prune(); err != nil {
		return nil, err
	}
	if a.found.nothing() {
		return nil, nil
	}
	if err := a.checkSample(); err != nil {
		return nil, err
	}
	a.union.removed = a.removals.remaining()
	if a.found.New+a.found.Changed > 0 {
		a.union.meta.Recipe = withDecoder(a.union.meta.Recipe)
	}
	v := a.newVersion()
	a.version = v
	a.pairs = nil // which the version has now
	if err := a.assignSplits(v); err != nil {
		return nil, err
	}
	return v.plan(ctx, a.o.converting())
}

// adder is the state of a call of Add.
type adder struct {
	target     *target
	src        formats.Dataset
	o          *AddOptions
	union      *union
	pairs      []pair
	unreadable []string         // paths of files and folders that the source could not read
	split      convert.Splitter // of the target's recipe
	found      Added
	version    *version // nil if there is nothing to do

	removals *removals
	origin   uint16 // of new samples
}

// pair is a sample of the target, of the source, or of both. An index is -1 if the sample is not there.
type pair struct {
	old, src int32 // indices in the target and the source
	replaced bool  // the image or another field differs: the sample is taken from the source
	dropped  bool  // the sample is not in the new version
	change   *change
}

// buildUnion sets a.union to the union of target and source, without samples.
func (a *adder) buildUnion() error {
	meta := *a.target.Meta()
	from := a.src.Meta()
	if a.o.ResetEdits {
		a.found.Reset += len(meta.Renamed)
		meta.Renamed = nil
	} else {
		var err error
		if from, err = withRenamedClasses(from, meta.Renamed); err != nil {
			return fmt.Errorf("the source: %w", err)
		}
	}
	schema, err := uniteSchemas(meta.Schema, []formats.Schema{from.Schema}, func(int) string { return "the source" })
	if err != nil {
		return err
	}
	for _, name := range a.src.Meta().Columns {
		if !slices.Contains(meta.Columns, name) {
			return fmt.Errorf("the source: %w: unknown column %q; the dataset's columns: %s", formats.ErrSchema, name, listNames(meta.Columns))
		}
	}
	if l := schema.LabelIndex(); l >= 0 {
		a.found.NewClasses = schema[l].Classes[len(meta.Classes()):]
	}
	meta.Schema = schema
	a.union = &union{meta: meta}
	a.union.sources = []unionSource{newUnionSource(a.target.Dataset, true, &meta), newUnionSourceAs(a.src, from, false, &meta)}
	src := &a.union.sources[1]
	src.marks, src.origin = nil, func(uint16) uint16 { return a.origin }
	removed, err := a.target.Removed()
	if err != nil {
		return err
	}
	a.removals = newRemovals(removed)
	return nil
}

// compare pairs the samples of target and source by key, and determines what changed.
func (a *adder) compare(ctx context.Context) error {
	only := a.target.Meta().Recipe["only"]
	a.pairs = make([]pair, 0, max(a.target.Len(), a.src.Len()))
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
	if err := a.checkLayout(ctx); err != nil {
		return err
	}
	if err := a.compareImages(ctx); err != nil {
		return err
	}
	if err := a.compareOtherFields(ctx); err != nil {
		return err
	}
	return a.compareRest()
}

func infoAt(ds formats.Dataset, i int) (in formats.Info, ok bool, err error) {
	if i >= ds.Len() {
		return in, false, nil
	}
	in, err = ds.Info(i)
	return in, true, err
}

// compareRest determines which labels, splits and columns changed.
func (a *adder) compareRest() error {
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 || p.src < 0 {
			continue
		}
		if p.replaced {
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

// newVersion puts the samples of the new version together.
func (a *adder) newVersion() *version {
	v := &version{target: a.target, union: a.union, newIndex: make([]int32, a.target.Len())}
	a.union.samples = make([]unionSample, 0, len(a.pairs))
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
		case p.replaced:
			v.newIndex[p.old] = at
			a.union.samples = append(a.union.samples, unionSample{source: 1, index: p.src, change: p.change})
			a.union.setOld(at, p.old)
		default:
			v.newIndex[p.old] = at
			a.union.samples = append(a.union.samples, unionSample{source: 0, index: p.old, change: p.change})
		}
	}
	return v
}

// checkSample returns an error if the dataset has a random sample of its source that it would not be any more.
func (a *adder) checkSample() error {
	recipe := a.target.Meta().Recipe
	if size := recipe[convert.SampleKey]; a.found.New > 0 && size != "" {
		return fmt.Errorf("%s has a random sample of %s images (--sample %s --seed %s), and this would add %d others: pack it again with another --sample, or without one",
			a.target.path, size, size, recipe[convert.SampleSeedKey], a.found.New)
	}
	return nil
}

// assignSplits assigns splits to new samples by the dataset's recipe. Shares count old and new
// samples together, but old samples stay in their splits.
func (a *adder) assignSplits(v *version) error {
	assigned, err := a.split.Assign(a.union)
	if err != nil {
		return err
	}
	splits := make([]string, a.union.Len())
	for i := range splits {
		in, err := a.union.Info(i)
		if err != nil {
			return err
		}
		splits[i] = assigned.Of(i, in)
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
			splits[at] = *it.change.split
		case !a.split.ByShares() && it.source == 1:
		default:
			splits[at] = in.Split
		}
		if splits[at] == in.Split {
			continue // unchanged, even if the name is not valid any more
		}
		if err := a.checkSplit(at, splits[at]); err != nil {
			return err
		}
	}
	for _, at := range v.added {
		if c := a.union.samples[at].change; c != nil && c.split != nil {
			splits[at] = *c.split
		}
		if err := a.checkSplit(at, splits[at]); err != nil {
			return err
		}
	}
	a.union.splits = splits
	return nil
}

// checkSplit returns an error if name, the split of the union's sample at, is not valid.
func (a *adder) checkSplit(at int32, name string) error {
	err := formats.CheckSplit(name)
	if err == nil {
		return nil
	}
	in, ierr := a.union.Info(int(at))
	return errors.Join(fmt.Errorf("the source: key %q: %w", in.Key, err), ierr)
}
