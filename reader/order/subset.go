package order

import (
	"fmt"
	"math"
	"slices"
)

// Subset is some of a dataset's samples, numbered from 0 in order of their index: 4 bytes
// each, or nothing where it is all of them.
type Subset struct {
	n, of   int
	indices []int32 // nil if it is all
}

// All is the whole of a dataset.
func All(n int) Subset { return Subset{n: n, of: n} }

// Select is the samples that keep says yes to, of n, at most 2^31-1.
func Select(n int, keep func(index int) bool) (Subset, error) {
	if n < 0 || n > math.MaxInt32 {
		return Subset{}, fmt.Errorf("subset of %d samples: there may be %d", n, math.MaxInt32)
	}
	var indices []int32
	for i := range n {
		if keep(i) {
			indices = append(indices, int32(i))
		}
	}
	if len(indices) == n {
		return All(n), nil
	}
	return Subset{n: len(indices), of: n, indices: slices.Clip(indices)}, nil
}

// Pick is the samples of those indices, which must ascend, of n. It keeps the slice.
func Pick(n int, indices []int32) (Subset, error) {
	before := int32(-1)
	for _, i := range indices {
		if i <= before || int(i) >= n {
			return Subset{}, fmt.Errorf("subset of %d samples: index %d behind %d", n, i, before)
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

// String tells subsets apart: those of equal strings are equal.
func (s Subset) String() string {
	if s.n == s.of {
		return fmt.Sprintf("all of %d", s.of)
	}
	return fmt.Sprintf("%d of %d, subset %016x", s.n, s.of, digest(s.indices))
}
