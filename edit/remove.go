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
		removed = append(removed, formats.RemovedSample{Key: in.Key, Source: in.Source})
	}
	if len(gone) == t.Len() {
		return nil, fmt.Errorf("%s: nothing would be left: remove the dataset itself instead", t.Path)
	}
	v := t.unchanged(func(i int) bool { return !gone[i] })
	v.union.removed = sortRemoved(removed)
	return v.plan(o)
}

// unchanged is the version of t that has those of its samples which stay.
func (t *Target) unchanged(stays func(i int) bool) *version {
	meta := *t.Meta()
	v := &version{target: t, base: make([]int32, t.Len()), union: &union{meta: meta}}
	v.union.parts = []part{newPart(t.Dataset, true, &meta)}
	for i := range t.Len() {
		v.base[i] = -1
		if stays(i) {
			v.base[i] = int32(len(v.union.items))
			v.union.items = append(v.union.items, item{index: int32(i)})
		}
	}
	return v
}
