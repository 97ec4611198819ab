package order

// Tail is what becomes of the samples at an epoch's end that do not fill a step.
type Tail uint8

const (
	// Pad splits them evenly, so that all ranks get batches of one size; the fewer than World
	// places that are too many are positions from Len on: they wrap around to the epoch's
	// first, position modulo Len, and are to be marked as padding.
	Pad Tail = iota
	// Drop leaves them out.
	Drop
	// Uneven splits them as evenly as can be without padding, each sample once: for
	// evaluation. Sizes differ by at most one; where fewer samples than ranks are left, the
	// last ranks have one batch less than the others.
	Uneven
)

// RankBatches is one rank's part of an epoch of Len positions. A step takes World*Batch of them,
// the r-th Batch being rank r's, so that the position at the end of a step says how far all
// ranks are: any number of ranks can go on from there, with batches of any size.
type RankBatches struct {
	Len   int // positions of the epoch
	Start int // position to begin at
	Batch int // entries of a batch
	Rank  int // 0 <= Rank < World
	World int
	Tail  Tail
}

// Batches is the number of batches. It is the same for every rank, but for the last ranks
// with Uneven.
func (s RankBatches) Batches() int {
	left := max(s.Len-s.Start, 0)
	steps, rest := left/s.step(), left%s.step()
	if s.Tail == Drop || rest == 0 || s.Tail == Uneven && s.Rank >= rest {
		return steps
	}
	return steps + 1
}

// Span is where in the epoch batch k lies, 0 <= k < Batches(). With Pad, positions from Len
// on are padding.
func (s RankBatches) Span(k int) (first, size int) {
	start := s.Start + k*s.step()
	left := s.Len - start
	switch {
	case left >= s.step():
		return start + s.Rank*s.Batch, s.Batch
	case s.Tail == Uneven:
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

// End is the position behind batch k of all ranks: the Start of what is left.
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

func (s RankBatches) step() int { return s.Batch * s.World }
