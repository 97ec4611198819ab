package order

import (
	"fmt"
	"slices"
)

// Tail is how the samples at an epoch's end that do not fill a step are handled.
type Tail uint8

const (
	// Pad splits them evenly, so that all ranks get batches of the same size. Up to World-1
	// entries have no sample left: their positions are Len and above, and wrap around to the
	// start of the epoch (position modulo Len). The caller must mark them as padding.
	Pad Tail = iota
	// Drop skips them.
	Drop
	// Uneven splits them as evenly as possible without padding, each sample once: for
	// evaluation. Sizes differ by at most one. If fewer samples than ranks are left, the
	// last ranks have one batch less than the others.
	Uneven
	// Repeat is Pad for loops that do not know padding: the repeated samples keep their labels.
	Repeat
)

var tailNames = [...]string{Pad: "pad", Drop: "drop", Uneven: "uneven", Repeat: "repeat"}

// MarshalText implements encoding.TextMarshaler.
func (t Tail) MarshalText() ([]byte, error) { return []byte(tailNames[t]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Tail) UnmarshalText(text []byte) error {
	k := slices.Index(tailNames[:], string(text))
	if k < 0 {
		return fmt.Errorf("tail %q: wanted repeat, pad, drop or uneven", text)
	}
	*t = Tail(k)
	return nil
}

// RankBatches divides an epoch of Len positions into the batches of one rank. A step takes
// World*Batch positions, of which the r-th Batch is rank r's. So the position at the end of a step
// is the progress of all ranks: any number of ranks can resume there, with batches of any size.
type RankBatches struct {
	Len   int // positions of the epoch
	Start int // position to begin at
	Batch int // entries of a batch
	Rank  int // 0 <= Rank < World
	World int
	Tail  Tail
}

// Batches is the number of batches. It is the same for every rank, except with Uneven.
func (s RankBatches) Batches() int {
	left := max(s.Len-s.Start, 0)
	steps, rest := left/s.step(), left%s.step()
	if s.Tail == Drop || rest == 0 || s.Tail == Uneven && s.Rank >= rest {
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

func (s RankBatches) step() int { return s.Batch * s.World }
