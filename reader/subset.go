package reader

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/reader/random"
)

// subset is samples of a dataset in some order, numbered from 0. It takes no memory of its own for samples
// whose indices follow one another.
type subset struct {
	n, of  int
	name   string
	pieces []piece
}

// piece is samples of consecutive numbers: those of a list or, without one, of consecutive indices.
type piece struct {
	number int // of its first sample
	index  int // of its first sample, or what is added to the list's indices
	list   []int32
}

// allOf is the whole dataset.
func allOf(n int) subset { return span(0, n, n) }

// span is n samples from an index on.
func span(first, n, of int) subset { return newSubset(n, of, piece{index: first}) }

// newSubset names a subset of n samples.
func newSubset(n, of int, pieces ...piece) subset {
	s := subset{n: n, of: of, pieces: pieces, name: fmt.Sprintf("all of %d", of)}
	if n != of {
		s.name = s.digest()
	}
	return s
}

// digest identifies the samples and their order.
func (s subset) digest() string {
	h := uint64(s.n)
	for i := range s.n {
		h = random.Mix(h ^ uint64(s.At(i)) + 1)
	}
	return fmt.Sprintf("%d of %d, subset %016x", s.n, s.of, h)
}

// selectOf is the samples for which keep is true, of n, at most 2^31-1, in order of their index. It takes
// 4 bytes a sample unless their indices follow one another.
func selectOf(n int, keep func(index int) bool) (subset, error) {
	if n < 0 || n > math.MaxInt32 {
		return subset{}, fmt.Errorf("subset of %d samples: at most %d are supported", n, math.MaxInt32)
	}
	var indices []int32
	for i := range n {
		if keep(i) {
			indices = append(indices, int32(i))
		}
	}
	return pickOf(n, slices.Clip(indices))
}

// pickOf is the samples with the given indices, which must be in ascending order, of n. Unless they
// follow one another it keeps the slice, which may be mapped memory: use At through package guard then,
// and Check afterwards.
func pickOf(n int, indices []int32) (s subset, err error) {
	err = guard.Read(bytesOf(indices), func() error {
		before := int32(-1)
		for _, i := range indices {
			if i <= before || int(i) >= n {
				return fmt.Errorf("subset of %d samples: index %d after %d: indices must ascend and be below the number of samples", n, i, before)
			}
			before = i
		}
		if k := len(indices); k == 0 || int(before-indices[0]) == k-1 {
			s = span(int(before)-k+1, k, n)
		} else {
			s = newSubset(k, n, piece{list: indices})
		}
		return guard.Shortened(bytesOf(indices))
	})
	return s, err
}

func bytesOf(list []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

// unionOf is the samples of several subsets of one dataset, in order of their index. It takes 4 bytes a
// sample unless their indices follow one another.
func unionOf(parts ...subset) (subset, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	member := make([]bool, parts[0].of)
	for _, p := range parts {
		err := p.use(func() error {
			for i := range p.n {
				member[p.At(i)] = true
			}
			return nil
		})
		if err != nil {
			return subset{}, err
		}
	}
	return selectOf(len(member), func(i int) bool { return member[i] })
}

// Take is the samples of s with the given numbers, in that order; a number may come more than once. It takes
// 4 bytes a sample, and does not keep the slice.
func (s subset) Take(numbers []int32) (subset, error) {
	if len(numbers) > math.MaxInt32 || s.of > math.MaxInt32 {
		return subset{}, fmt.Errorf("list of %d samples of %d: at most %d are supported", len(numbers), s.of, math.MaxInt32)
	}
	indices := make([]int32, len(numbers))
	side := true // the indices follow one another
	err := s.use(func() error {
		for k, i := range numbers {
			if i < 0 || int(i) >= s.n {
				return fmt.Errorf("sample %d, at position %d of the list: the indices are 0 to %d", i, k, s.n-1)
			}
			indices[k] = int32(s.At(int(i)))
			side = side && int(indices[k])-k == int(indices[0])
		}
		return nil
	})
	switch {
	case err != nil:
		return subset{}, err
	case len(indices) == 0:
		return span(0, 0, s.of), nil
	case side:
		return span(int(indices[0]), len(indices), s.of), nil
	}
	taken := subset{n: len(indices), of: s.of, pieces: []piece{{list: indices}}}
	taken.name = taken.digest() // also of all samples, in another order
	return taken, nil
}

// use calls f, which calls At, and returns an unreadable list as an error.
func (s subset) use(f func() error) error {
	mark := guard.Now()
	err := guard.Do(f)
	return cmp.Or(s.Check(mark), err)
}

// joinOf numbers the samples of subsets of several datasets one after the other, as the indices of the
// datasets are.
func joinOf(parts ...subset) subset {
	n, of := 0, 0
	var pieces []piece
	for _, part := range parts {
		for _, p := range part.pieces {
			p.number, p.index = n+p.number, of+p.index
			pieces = append(pieces, p)
		}
		n, of = n+part.n, of+part.of
	}
	return newSubset(n, of, pieces...)
}

// Len is the number of samples.
func (s subset) Len() int { return s.n }

// At is the index in the dataset of sample i, 0 <= i < Len().
func (s subset) At(i int) int {
	p := s.pieceOf(i)
	if p.list == nil {
		return p.index + i - p.number
	}
	return p.index + int(p.list[i-p.number])
}

// pieceOf is the piece that sample i is in.
func (s subset) pieceOf(i int) *piece {
	k := 0
	if len(s.pieces) > 1 {
		k = sort.Search(len(s.pieces), func(k int) bool { return s.pieces[k].number > i }) - 1
	}
	return &s.pieces[k]
}

// Listed is the number of samples whose indices are in lists, 4 bytes each.
func (s subset) Listed() (n int) {
	for _, p := range s.pieces {
		n += len(p.list)
	}
	return n
}

// Check returns an error if a list was unreadable at some time since mark, or its file was shortened: see
// package guard.
func (s subset) Check(mark guard.Mark) error {
	for _, p := range s.pieces {
		if err := checkList(mark, p.list); err != nil {
			return err
		}
	}
	return nil
}

// CheckAt is Check of what At(i) reads.
func (s subset) CheckAt(mark guard.Mark, i int) error {
	p := s.pieceOf(i)
	if p.list == nil {
		return nil
	}
	return checkList(mark, p.list[i-p.number:][:1])
}

func checkList(mark guard.Mark, list []int32) error {
	b := bytesOf(list)
	return cmp.Or(guard.Check(mark, b), guard.Shortened(b))
}

// String identifies the subset: subsets with equal strings are equal.
func (s subset) String() string { return s.name }
