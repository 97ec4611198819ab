package sampleorder

import "github.com/dsconv/dsconv/reader/order"

// RankBatches divides an epoch of Len positions into the batches of one rank. A step takes
// World*Batch positions, of which the r-th Batch is rank r's. So the position at the end of a step
// is the progress of all ranks: any number of ranks can resume there, with batches of any size.
type RankBatches struct {
	Len   int // positions of the epoch
	Start int // position to begin at
	Batch int // entries of a batch
	Rank  int // 0 <= Rank < World
	World int
	Tail  order.Tail
}

// Batches is the number of batches. It is the same for every rank, except with Uneven.
func (s RankBatches) Batches() int {
	left := max(s.Len-s.Start, 0)
	steps, rest := left/s.step(), left%s.step()
	if s.Tail == order.Drop || rest == 0 || s.Tail == order.Uneven && s.Rank >= rest {
		return steps
	}
	return steps + 1
}

// Span returns the first position of batch k, 0 <= k < Batches(), and its size. With Pad or Repeat,
// positions of Len and above are padding.
func (s RankBatches) Span(k int) (first, size int) {
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
func (s RankBatches) Step(k int) (first, size int) {
	_, size = s.Span(k)
	return s.Start + k*s.step(), size * s.World
}

// End is the position after batch k of all ranks: the Start of what is left.
func (s RankBatches) End(k int) int {
	return min(s.Start+(k+1)*s.step(), s.Len)
}

// Entries is the number of entries in all batches, padding included.
func (s RankBatches) Entries() int {
	k := s.Batches()
	if k == 0 {
		return 0
	}
	_, last := s.Span(k - 1)
	return (k-1)*s.Batch + last
}

// Locate returns the batch of an entry, and its place there, if each batch has extra more entries than
// positions.
func (s RankBatches) Locate(entry int64, extra int) (k, i int) {
	size := int64(s.Batch + extra)
	return int(entry / size), int(entry % size)
}

func (s RankBatches) step() int { return s.Batch * s.World }
