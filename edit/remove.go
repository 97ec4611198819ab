package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// Remove plans a version of t without the samples of those keys. The version records that they were
// removed, so that Add does not add them again. An unknown key is an error.
func Remove(t *Target, keys []string, o convert.Options) (*convert.Plan, error) {
	removed, err := t.Removed()
	if err != nil {
		return nil, err
	}
	gone := map[int]bool{}
	for _, key := range keys {
		i, err := formats.Find(t, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Path, err)
		}
		if gone[i] {
			continue
		}
		gone[i] = true
		in, err := t.Info(i)
		if err != nil {
			return nil, err
		}
		removed = append(removed, formats.RemovedSample{Key: in.Key, Source: in.Source})
	}
	if len(gone) == t.Len() {
		return nil, fmt.Errorf("%s: no sample would be left: delete the dataset instead", t.Path)
	}
	v := t.subset(func(i int) bool { return !gone[i] })
	v.union.removed = sortRemoved(removed)
	return v.plan(o)
}

// subset returns the version of t with only the samples for which keep returns true.
func (t *Target) subset(keep func(i int) bool) *version {
	meta := *t.Meta()
	v := &version{target: t, newIndex: make([]int32, t.Len()), union: &union{meta: meta}}
	v.union.sources = []unionSource{newUnionSource(t.Dataset, true, &meta)}
	for i := range t.Len() {
		v.newIndex[i] = -1
		if keep(i) {
			v.newIndex[i] = int32(len(v.union.samples))
			v.union.samples = append(v.union.samples, unionSample{index: int32(i)})
		}
	}
	return v
}
