package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	return remove(ctx, "edit.Remove", reg, path, func(ds formats.Dataset) (func(i int) bool, error) {
		gone := map[int]bool{}
		for _, key := range keys {
			i, err := formats.Find(ds, key)
			if err != nil {
				return nil, err
			}
			gone[i] = true
		}
		return func(i int) bool { return gone[i] }, nil
	}, o)
}

// RemoveSelected is Remove for the samples that choose selects. choose is called once with the dataset at
// path, which is closed afterwards, and returns whether the sample of an index is removed. Its error
// ends RemoveSelected, and nothing is removed.
func RemoveSelected(ctx context.Context, reg formats.Registry, path string, choose func(formats.Dataset) (func(i int) bool, error), o Options) (*RemoveReport, error) {
	return remove(ctx, "edit.RemoveSelected", reg, path, choose, o)
}

func remove(ctx context.Context, function string, reg formats.Registry, path string, choose func(formats.Dataset) (func(i int) bool, error), o Options) (*RemoveReport, error) {
	if err := o.check(ctx, function, path); err != nil {
		return nil, err
	}
	t, err := open(reg, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	gone, err := t.choose(choose)
	if err != nil {
		return nil, err
	}
	p, n, err := t.planRemoval(ctx, gone, o.converting())
	if err != nil {
		return nil, err
	}
	r, err := finish(ctx, p, t.format, path, t.Len(), &o)
	return &RemoveReport{Report: *r, Removed: n}, err
}

// choose calls a caller's function that chooses samples.
func (t *target) choose(choose func(formats.Dataset) (func(i int) bool, error)) (func(i int) bool, error) {
	chosen, err := choose(t.Dataset)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.path, err)
	case chosen == nil:
		return nil, fmt.Errorf("%s: the function that chooses samples returned nil", t.path)
	}
	return chosen, nil
}

// planRemoval plans a version of t without the samples for which gone returns true, and returns how many they
// are. The plan is nil if there are none.
func (t *target) planRemoval(ctx context.Context, gone func(i int) bool, o convert.Options) (*convert.Plan, int, error) {
	removed, err := t.Removed()
	if err != nil {
		return nil, 0, err
	}
	n := 0
	for i := range t.Len() {
		if !gone(i) {
			continue
		}
		in, err := t.Info(i)
		if err != nil {
			return nil, 0, err
		}
		removed = append(removed, formats.RemovedSample{Key: in.Key, Source: in.Source})
		n++
	}
	switch n {
	case 0:
		return nil, 0, nil
	case t.Len():
		return nil, 0, fmt.Errorf("%s: no sample would be left: delete the dataset instead", t.path)
	}
	v := t.subset(func(i int) bool { return !gone(i) })
	v.union.removed = sortRemoved(removed)
	p, err := v.plan(ctx, o)
	return p, n, err
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

// sortRemoved sorts the list by key and drops duplicate keys.
func sortRemoved(list []formats.RemovedSample) []formats.RemovedSample {
	slices.SortStableFunc(list, func(a, b formats.RemovedSample) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(list, func(a, b formats.RemovedSample) bool { return a.Key == b.Key })
}

// removals finds samples of the source in the list of samples removed by hand.
type removals struct {
	list          []formats.RemovedSample
	byKey, byPath map[string]int // indices into list
	restored      []bool         // by index into list: the sample is added again
}

func newRemovals(list []formats.RemovedSample) *removals {
	r := &removals{list: list, byKey: map[string]int{}, byPath: map[string]int{}, restored: make([]bool, len(list))}
	for i := range list {
		r.byKey[list[i].Key], r.byPath[list[i].Source.Path] = i, i
	}
	delete(r.byPath, "") // not a path
	return r
}

// find returns the index in the list of the sample with that key or path.
func (r *removals) find(in *formats.Info) (i int, ok bool) {
	if i, ok = r.byKey[in.Key]; !ok {
		i, ok = r.byPath[in.Source.Path]
	}
	return i, ok
}

// remaining returns the samples that stay removed.
func (r *removals) remaining() []formats.RemovedSample {
	var list []formats.RemovedSample
	for i, e := range r.list {
		if !r.restored[i] {
			list = append(list, e)
		}
	}
	return list
}
