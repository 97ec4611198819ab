package reader

import (
	"fmt"
	"sort"

	"github.com/dsconv/dsconv/reader/order"
)

// rankBatches divides an epoch of Len positions into the batches of one rank. A step takes
// World*Batch positions, of which the r-th Batch is rank r's. So the position at the end of a step
// is the progress of all ranks: any number of ranks can resume there, with batches of any size.
type rankBatches struct {
	Len   int // positions of the epoch
	Start int // position to begin at
	Batch int // entries of a batch
	Rank  int // 0 <= Rank < World
	World int
	Tail  order.Tail
}

// Batches is the number of batches. It is the same for every rank, except with Uneven.
func (s rankBatches) Batches() int {
	left := max(s.Len-s.Start, 0)
	steps, rest := left/s.step(), left%s.step()
	if s.Tail == order.Drop || rest == 0 || s.Tail == order.Uneven && s.Rank >= rest {
		return steps
	}
	return steps + 1
}

// Span returns the first position of batch k, 0 <= k < Batches(), and its size. With Pad or Repeat,
// positions of Len and above are padding.
func (s rankBatches) Span(k int) (first, size int) {
	start := s.Start + k*s.step()
	left := s.Len - start
	switch {
	case left >= s.step():
		return start + s.Rank*s.Batch, s.Batch
	case s.Tail == order.Uneven:
		size, longer := left/s.World, left%s.World
		first = start + s.Rank*size + min(s.Rank, longer)
		if s.Rank < longer {
			size++
		}
		return first, size
	default:
		size = (left + s.World - 1) / s.World
		return start + s.Rank*size, size
	}
}

// Step returns the first position of the step that batch k belongs to, and the number of entries of all ranks.
func (s rankBatches) Step(k int) (first, size int) {
	_, size = s.Span(k)
	return s.Start + k*s.step(), size * s.World
}

// End is the position after batch k of all ranks: the Start of what is left.
func (s rankBatches) End(k int) int {
	return min(s.Start+(k+1)*s.step(), s.Len)
}

// Entries is the number of entries in all batches, padding included.
func (s rankBatches) Entries() int {
	k := s.Batches()
	if k == 0 {
		return 0
	}
	_, last := s.Span(k - 1)
	return (k-1)*s.Batch + last
}

// Locate returns the batch of an entry, and its place there, if each batch has extra more entries than
// positions.
func (s rankBatches) Locate(entry int64, extra int) (k, i int) {
	size := int64(s.Batch + extra)
	return int(entry / size), int(entry % size)
}

func (s rankBatches) step() int { return s.Batch * s.World }

// sizedBatches divides the positions of a list into batches of given sizes, of one rank.
type sizedBatches struct {
	start int
	ends  []int // the positions after the batches from start on
}

// divideBySizes divides a list of n samples into batches of these sizes, from 1 to most, which add up to n. The
// first batch begins at the position start, where one of the others must end.
func divideBySizes(sizes []int32, n, most, start int) (sizedBatches, error) {
	b := sizedBatches{start: start, ends: make([]int, 0, len(sizes))}
	end := 0
	for k, size := range sizes {
		if size < 1 || int(size) > most {
			return b, fmt.Errorf("batch %d has the size %d: sizes are from 1 to the batch size %d", k, size, most)
		}
		begins := end
		if end += int(size); end <= start {
			continue
		}
		if begins < start {
			return b, fmt.Errorf("position %d is inside batch %d, which begins at %d: use a batch's End", start, k, begins)
		}
		b.ends = append(b.ends, end)
	}
	if end != n {
		return b, fmt.Errorf("the sizes of %d batches add up to %d, and the list has %d samples", len(sizes), end, n)
	}
	return b, nil
}

// Batches is the number of batches.
func (b sizedBatches) Batches() int { return len(b.ends) }

// Span returns the first position of batch k, 0 <= k < Batches(), and its size.
func (b sizedBatches) Span(k int) (first, size int) {
	first = b.start
	if k > 0 {
		first = b.ends[k-1]
	}
	return first, b.ends[k] - first
}

// Step is Span: no other rank has a part of the list.
func (b sizedBatches) Step(k int) (first, size int) { return b.Span(k) }

// End is the position after batch k.
func (b sizedBatches) End(k int) int { return b.ends[k] }

// Entries is the number of entries in all batches.
func (b sizedBatches) Entries() int {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1] - b.start
}

// Locate returns the batch of an entry, and its place there, if each batch has extra more entries than
// positions.
func (b sizedBatches) Locate(entry int64, extra int) (k, i int) {
	first := func(k int) int64 { // entry of batch k
		at, _ := b.Span(k)
		return int64(at - b.start + k*extra)
	}
	k = sort.Search(len(b.ends), func(k int) bool { return first(k) > entry }) - 1
	return k, int(entry - first(k))
}
