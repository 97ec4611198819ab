package edit

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// RemoveReport is the result of Remove.
type RemoveReport struct {
	Report
	Removed int `json:"removed"` // samples
}

// Remove removes the samples of those keys from the dataset at path: their bytes are in none of its files
// afterwards. The dataset records that they were removed, so that Add does not add them again.
//
// A key that the dataset lacks is an error (formats.ErrKey), and nothing is removed; a key given twice
// is not. With an error of the run comes a report.
func Remove(ctx context.Context, reg formats.Registry, path string, keys []string, o Options) (*RemoveReport, error) {
	if err := o.check(ctx, "edit.Remove", reg, "path", path); err != nil {
		return nil, err
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	p, n, err := t.planRemoval(ctx, keys, o.converting())
	if err != nil {
		return nil, err
	}
	r, err := finish(ctx, p, t.format, path, t.Len(), &o)
	return &RemoveReport{Report: *r, Removed: n}, err
}

// planRemoval plans a version of t without the samples of those keys, and returns how many they are. The
// plan is nil if there are none.
func (t *target) planRemoval(ctx context.Context, keys []string, o convert.Options) (*convert.Plan, int, error) {
	if len(keys) == 0 {
		return nil, 0, nil
	}
	removed, err := t.Removed()
	if err != nil {
		return nil, 0, err
	}
	gone := map[int]bool{}
	for _, key := range keys {
		i, err := formats.Find(t.Dataset, key)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", t.path, err)
		}
		if gone[i] {
			continue
		}
		gone[i] = true
		in, err := t.Info(i)
		if err != nil {
			return nil, 0, err
		}
		removed = append(removed, formats.RemovedSample{Key: in.Key, Source: in.Source})
	}
	if len(gone) == t.Len() {
		return nil, 0, fmt.Errorf("%s: no sample would be left: delete the dataset instead", t.path)
	}
	v := t.subset(func(i int) bool { return !gone[i] })
	v.union.removed = sortRemoved(removed)
	p, err := v.plan(ctx, o)
	return p, len(gone), err
}

// subset returns the version of t with only the samples for which keep returns true.
func (t *target) subset(keep func(i int) bool) *version {
	meta := *t.Meta()
	v := &version{target: t, newIndex: make([]int32, t.Len()), union: &union{meta: meta}}
	v.union.sources = []unionSource{newUnionSource(t.Dataset, true, &meta)}
	v.union.samples = make([]unionSample, 0, t.Len())
	for i := range t.Len() {
		v.newIndex[i] = -1
		if keep(i) {
			v.newIndex[i] = int32(len(v.union.samples))
			v.union.samples = append(v.union.samples, unionSample{index: int32(i)})
		}
	}
	return v
}
