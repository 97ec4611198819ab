package edit

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// sortRemoved sorts the list by key and drops duplicate keys.
func sortRemoved(list []formats.RemovedSample) []formats.RemovedSample {
	slices.SortStableFunc(list, func(a, b formats.RemovedSample) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(list, func(a, b formats.RemovedSample) bool { return a.Key == b.Key })
}

// removals finds samples of the source in the list of samples removed by hand.
type removals struct {
	list     []formats.RemovedSample // by key
	byPath   []int32                 // indices into list, sorted by path
	restored []bool                  // by index into list: the sample is added again
}

func newRemovals(list []formats.RemovedSample) *removals {
	r := &removals{list: list, byPath: make([]int32, len(list)), restored: make([]bool, len(list))}
	for i := range r.byPath {
		r.byPath[i] = int32(i)
	}
	slices.SortFunc(r.byPath, func(a, b int32) int { return strings.Compare(list[a].Source.Path, list[b].Source.Path) })
	return r
}

// find returns the index in the list of the sample with that key or path.
func (r *removals) find(in *formats.Info) (int, bool) {
	if i, ok := slices.BinarySearchFunc(r.list, in.Key, func(e formats.RemovedSample, key string) int {
		return strings.Compare(e.Key, key)
	}); ok {
		return i, true
	}
	if in.Source.Path == "" {
		return 0, false
	}
	k, ok := slices.BinarySearchFunc(r.byPath, in.Source.Path, func(i int32, path string) int {
		return strings.Compare(r.list[i].Source.Path, path)
	})
	if !ok {
		return 0, false
	}
	return int(r.byPath[k]), true
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
