package edit

import (
	"cmp"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// version plans the new version of t that u is.
type version struct {
	target *Target
	union  *union
	// base maps a sample of the target to the union's that takes its place, -1 for none.
	newIndex []int32
	// added are the union's samples that take no place of the target's.
	added []int32
	// rewrite names files that are written anew though no sample of theirs changes; whole
	// says that all is.
	rewriteFiles map[int]bool
	rewriteAll   bool
	// stays says that the dataset's one file stays as it is.
	keepData bool
}

// plan decides which files stay and what the others are made of.
func (v *version) plan(o convert.Options) (*convert.Plan, error) {
	o, err := v.target.options(o)
	if err != nil {
		return nil, err
	}
	if err := v.union.countEdits(); err != nil {
		return nil, err
	}
	next := convert.Version{Meta: v.union.meta, Ready: v.union.ready, Base: v.target.base}
	if next.Change, err = v.changes(); err != nil {
		return nil, err
	}
	switch {
	case v.target.hasShards():
		if next.Files, err = v.files(o); err != nil {
			return nil, err
		}
		next.Meta.Recipe = withShards(next.Meta.Recipe, len(next.Files))
	case v.keepData:
		next.Files = []convert.File{{Keep: true}}
	case !v.rewriteAll && v.target.Format.Traits().LabelsApart && v.manifestOnly():
		next.Files = []convert.File{{Keep: true}}
	}
	return convert.NewVersion(v.union, next, v.target.Format, v.target.Path, o)
}

// changes alters samples of files that stay.
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

// manifestOnly says that the files hold nothing of what changes.
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

// apart says that c changes nothing that lies outside of the manifest where labels are
// apart: no label but a designated single one.
func (c *change) manifestOnly(label int, schema formats.Schema) bool {
	for k := range c.labels {
		if k != label || schema[k].Kind != formats.Label {
			return false
		}
	}
	return true
}

// files: those of whose samples none changes stay, the others are written anew from what
// they had, and what is added goes to new ones.
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

// unchangedBut says that sample i is the target's own and changed only in what but allows.
func (v *version) unchangedExcept(i int32, but func(*change) bool) bool {
	it := &v.union.samples[i]
	p := &v.union.sources[it.source]
	return it.source == 0 && p.identical && (it.change == nil || but(it.change))
}

func (c *change) sourceOnly() bool { return c.labels == nil && c.split == nil && c.columns == nil }

// newFiles deals the added samples out to files no larger than the largest that there is,
// or of the size that o asks for; in the dataset's own order.
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

// largest is about the size of the largest file of images.
func (v *version) largest(have int) int64 {
	sizes := make([]int64, max(have, 1))
	d, ok := v.target.Dataset.(locator)
	for i := 0; ok && i < v.target.Len(); i++ {
		if at := d.Place(i); at.Shard >= 0 && at.Shard < have {
			sizes[at.Shard] += at.Length
		}
	}
	return slices.MaxFunc(sizes, cmp.Compare)
}
