package edit

import (
	"cmp"
	"context"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// version is a new version of target: the samples of union.
type version struct {
	target *target
	union  *union
	// newIndex maps a sample of the target to its sample in union, -1 if it is removed.
	newIndex []int32
	// added are the samples of union that target does not have.
	added []int32
	// rewriteFiles are files that are written again although none of their samples changes;
	// rewriteAll is set if all files are.
	rewriteFiles map[int]bool
	rewriteAll   bool
	// keepStats is set if all samples stay what they are, and so the statistics of their pixels.
	keepStats bool
	// keepData is set if the dataset's only data file is kept as it is.
	keepData bool
}

// plan decides which files are kept and which samples the others have.
func (v *version) plan(ctx context.Context, o convert.Options) (*convert.Plan, error) {
	o, err := v.target.options(o, v.union.allReady())
	if err != nil {
		return nil, err
	}
	if err := v.union.countEdits(); err != nil {
		return nil, err
	}
	next := convert.Version{Meta: v.union.meta, Ready: v.union.ready, Fallback: v.union.useOld, Base: v.target.base}
	if !v.keepStats {
		next.Meta.PixelStats = nil
	}
	if next.Change, err = v.changes(); err != nil {
		return nil, err
	}
	switch {
	case v.target.hasShards():
		if next.Files, err = v.files(o); err != nil {
			return nil, err
		}
		next.Meta.Recipe = withShards(next.Meta.Recipe, len(next.Files))
	case v.keepData, !v.rewriteAll && v.target.format.Traits().LabelsInManifest && v.manifestOnly():
		next.Files = []convert.File{{Keep: true}}
	}
	return convert.NewVersion(ctx, v.union, next, v.target.format, v.target.path, o)
}

// changes returns the function that applies changes to samples of kept files.
func (v *version) changes() (func(*formats.Info), error) {
	changed := map[string]*change{}
	for i := range v.union.samples {
		if c := v.union.samples[i].change; c != nil {
			in, err := v.union.Info(i)
			if err != nil {
				return nil, err
			}
			changed[in.Key] = c
		}
	}
	return func(in *formats.Info) {
		if c := changed[in.Key]; c != nil {
			c.applyToInfo(in, v.union.meta.Schema)
		}
	}, nil
}

// manifestOnly reports whether all changes are in the manifest, so that the data files can be kept.
func (v *version) manifestOnly() bool {
	if len(v.added) > 0 {
		return false
	}
	label := v.union.meta.Schema.LabelIndex()
	for _, to := range v.newIndex {
		if to < 0 || !v.unchangedExcept(to, func(c *change) bool { return c.manifestOnly(label, v.union.meta.Schema) }) {
			return false
		}
	}
	return true
}

// manifestOnly reports whether c changes only the manifest, in a format that stores the main label
// there: no other label field.
func (c *change) manifestOnly(label int, schema formats.Schema) bool {
	for k := range c.labels {
		if k != label || schema[k].Kind != formats.Label {
			return false
		}
	}
	return true
}

// files returns the files of the new version. A file without changes is kept, a changed file is
// written again, and added samples go to new files.
func (v *version) files(o convert.Options) ([]convert.File, error) {
	old, err := v.target.samplesByFile()
	if err != nil {
		return nil, err
	}
	files := make([]convert.File, 0, len(old)+1)
	for i, samples := range old {
		f := convert.File{Keep: !v.rewriteFiles[i]}
		for _, i := range samples {
			to := v.newIndex[i]
			f.Keep = f.Keep && to >= 0 && v.unchangedExcept(to, (*change).sourceOnly)
			if to >= 0 {
				f.Samples = append(f.Samples, to)
			}
		}
		if f.Keep {
			f.Samples = nil
		}
		files = append(files, f)
	}
	more, err := v.newFiles(o, len(old))
	return append(files, more...), err
}

// unchangedExcept reports whether sample i is the target's own, with no change that but does not allow.
func (v *version) unchangedExcept(i int32, but func(*change) bool) bool {
	it := &v.union.samples[i]
	p := &v.union.sources[it.source]
	return it.source == 0 && p.identical && (it.change == nil || but(it.change))
}

func (c *change) sourceOnly() bool { return c.split == nil && len(c.labels)+len(c.columns) == 0 }

// newFiles distributes the added samples, in the dataset's order, over files of the size that o asks
// for, by default about that of the largest file.
func (v *version) newFiles(o convert.Options, have int) ([]convert.File, error) {
	if len(v.added) == 0 {
		return nil, nil
	}
	order := slices.Clone(v.added)
	o.Order.Arrange(order)
	size := o.Shards.Size
	if size == 0 {
		size = v.largest(have)
	}
	var bytes int64
	for _, i := range order {
		in, err := v.union.Info(int(i))
		if err != nil {
			return nil, err
		}
		bytes += in.Size
	}
	n := max(1, min(len(order), int((bytes+size-1)/max(size, 1))))
	files := make([]convert.File, n)
	for i, sample := range order {
		f := &files[i*n/len(order)]
		f.Samples = append(f.Samples, sample)
	}
	return files, nil
}

// largest returns about the size of the largest data file.
func (v *version) largest(have int) int64 {
	sizes := make([]int64, max(have, 1))
	d, ok := v.target.Dataset.(locator)
	for i := 0; ok && i < v.target.Len(); i++ {
		if at, err := d.Location(i); err == nil && at.Shard >= 0 && at.Shard < have {
			sizes[at.Shard] += at.Length
		}
	}
	return slices.MaxFunc(sizes, cmp.Compare)
}
