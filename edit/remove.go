package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// Remove plans a version of t without the samples of those keys, which remembers that they
// were removed: Add leaves them out. A key that t has not is an error.
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
		removed = append(removed, formats.Removed{Key: in.Key, Source: in.Source})
	}
	if len(gone) == t.Len() {
		return nil, fmt.Errorf("%s: nothing would be left: remove the dataset itself instead", t.Path)
	}
	v := t.subset(func(i int) bool { return !gone[i] })
	v.union.removed = sortRemoved(removed)
	return v.plan(o)
}

// unchanged is the version of t that has those of its samples which stay.
func (t *Target) subset(stays func(i int) bool) *version {
	meta := *t.Meta()
	v := &version{target: t, newIndex: make([]int32, t.Len()), union: &union{meta: meta}}
	v.union.sources = []unionSource{newPart(t.Dataset, true, &meta)}
	for i := range t.Len() {
		v.newIndex[i] = -1
		if stays(i) {
			v.newIndex[i] = int32(len(v.union.samples))
			v.union.samples = append(v.union.samples, unionSample{index: int32(i)})
		}
	}
	return v
}
