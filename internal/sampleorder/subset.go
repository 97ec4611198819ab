package sampleorder

import (
	"fmt"
	"math"
	"slices"
)

// Subset is some of a dataset's samples, numbered from 0 in order of their index. It takes 4 bytes
// a sample, or nothing if it is the whole dataset.
type Subset struct {
	n, of   int
	indices []int32 // nil if it is all
}

// All is the whole dataset.
func All(n int) Subset { return Subset{n: n, of: n} }

// Select is the samples for which keep is true, of n, at most 2^31-1.
func Select(n int, keep func(index int) bool) (Subset, error) {
	if n < 0 || n > math.MaxInt32 {
		return Subset{}, fmt.Errorf("subset of %d samples: at most %d are supported", n, math.MaxInt32)
	}
	var indices []int32
	for i := range n {
		if keep(i) {
			indices = append(indices, int32(i))
		}
	}
	return Pick(n, slices.Clip(indices))
}

// Pick is the samples with the given indices, which must be in ascending order, of n. It keeps the
// slice.
func Pick(n int, indices []int32) (Subset, error) {
	before := int32(-1)
	for _, i := range indices {
		if i <= before || int(i) >= n {
			return Subset{}, fmt.Errorf("subset of %d samples: index %d after %d: indices must ascend and be below the number of samples", n, i, before)
		}
		before = i
	}
	if len(indices) == n {
		return All(n), nil
	}
	return Subset{n: len(indices), of: n, indices: indices}, nil
}

// Len is the number of samples.
func (s Subset) Len() int { return s.n }

// At is the index in the dataset of sample i, 0 <= i < Len().
func (s Subset) At(i int) int {
	if s.n == s.of {
		return i
	}
	return int(s.indices[i])
}

// String identifies the subset: subsets with equal strings are equal.
func (s Subset) String() string {
	if s.n == s.of {
		return fmt.Sprintf("all of %d", s.of)
	}
	return fmt.Sprintf("%d of %d, subset %016x", s.n, s.of, digest(s.indices))
}
