package plan

import (
	"github.com/dsconv/dsconv/formats"
)

// subset is some samples of a dataset, in key order. It does not own the dataset.
type subset struct {
	formats.Dataset
	meta    formats.Meta
	indices []int32
}

// newSubset returns the samples of ds at indices, all of one split, as a dataset. It lends memory and prefetches if ds
// does.
func newSubset(ds formats.Dataset, indices []int32, split string) formats.Dataset {
	s := &subset{Dataset: ds, meta: *ds.Meta(), indices: indices}
	s.meta.Count = len(indices)
	s.meta.Splits = nil
	if split != "" {
		s.meta.Splits = []formats.Split{{Name: split, Count: len(indices)}}
	}
	if viewer, ok := ds.(formats.Viewer); ok {
		return &lendingSubset{subset: s, viewer: viewer}
	}
	return s
}

// spread are n of the indices, evenly spread.
func spread(indices []int32, n int) []int32 {
	n = min(n, len(indices))
	out := make([]int32, n)
	for k := range out {
		out[k] = indices[k*len(indices)/n]
	}
	return out
}

// firstN are the numbers from 0 to n-1.
func firstN(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func (s *subset) Meta() *formats.Meta { return &s.meta }
func (s *subset) Len() int            { return len(s.indices) }
func (s *subset) Close() error        { return nil } // whoever opened the dataset closes it

func (s *subset) Info(i int) (formats.Info, error) { return s.Dataset.Info(int(s.indices[i])) }

func (s *subset) Read(i int, out *formats.Sample) error {
	return s.Dataset.Read(int(s.indices[i]), out)
}

// Prefetch implements formats.Prefetcher.
func (s *subset) Prefetch(indices []int32) {
	p, ok := s.Dataset.(formats.Prefetcher)
	if !ok {
		return
	}
	own := make([]int32, 0, len(indices))
	for _, i := range indices {
		if i >= 0 && int(i) < len(s.indices) {
			own = append(own, s.indices[i])
		}
	}
	p.Prefetch(own)
}

// lendingSubset is a subset of a dataset that lends its memory.
type lendingSubset struct {
	*subset
	viewer formats.Viewer
}

func (s *lendingSubset) View(i int, out *formats.Sample) error {
	return s.viewer.View(int(s.indices[i]), out)
}

func (s *lendingSubset) Lease() (func(), error) { return s.viewer.Lease() }

var (
	_ formats.Prefetcher = (*subset)(nil)
	_ formats.Viewer     = (*lendingSubset)(nil)
	_ formats.Prefetcher = (*lendingSubset)(nil)
)
