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
