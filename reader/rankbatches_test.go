package reader

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/reader/order"
)

// rankedSteps is the positions of each step, all ranks together, in their order.
func rankedSteps(t *testing.T, s rankBatches) (steps [][]int) {
	t.Helper()
	for s.Rank = range s.World {
		entries := 0
		for k := range s.Batches() {
			first, size := s.Span(k)
			if size < 1 || size > s.Batch {
				t.Fatalf("%+v: batch %d has %d entries", s, k, size)
			}
			if k < s.Batches()-1 && size != s.Batch {
				t.Fatalf("%+v: batch %d of %d has %d entries", s, k, s.Batches(), size)
			}
			if k == len(steps) {
				steps = append(steps, nil)
			}
			for p := first; p < first+size; p++ {
				steps[k] = append(steps[k], p)
			}
			entries += size
		}
		if entries != s.Entries() {
			t.Fatalf("%+v: %d entries, Entries says %d", s, entries, s.Entries())
		}
	}
	return steps
}

// TestRankBatches holds for many sizes that the ranks' batches are, step by step, one rank's epoch, and
// what becomes of its end.
func TestRankBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		s := rankBatches{Len: r.IntN(200), Batch: 1 + r.IntN(20), World: 1 + r.IntN(9), Tail: []order.Tail{order.Pad, order.Drop, order.Uneven}[r.IntN(3)]}
		s.Start = r.IntN(s.Len + 1)
		next, padding := s.Start, 0
		for k, step := range rankedSteps(t, s) {
			for _, p := range step {
				if p != next {
					t.Fatalf("%+v: step %d has position %d, want %d", s, k, p, next)
				}
				next++
			}
			if s.End(k) != min(next, s.Len) {
				t.Fatalf("%+v: step %d ends at %d, want %d", s, k, s.End(k), next)
			}
		}
		if next > s.Len {
			padding, next = next-s.Len, s.Len
		}
		left := s.Len - next
		switch {
		case s.Tail == order.Drop && (padding > 0 || left >= s.Batch*s.World),
			s.Tail == order.Pad && (padding >= s.World || left > 0),
			s.Tail == order.Uneven && (padding > 0 || left > 0):
			t.Fatalf("%+v: %d padding, %d left", s, padding, left)
		}
	}
}

// TestRanksHaveEqualBatches holds that ranks have the same number of batches of the same sizes,
// and with Uneven nearly.
func TestRanksHaveEqualBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		s := rankBatches{Len: r.IntN(200), Batch: 1 + r.IntN(20), World: 1 + r.IntN(9), Tail: []order.Tail{order.Pad, order.Drop, order.Uneven}[r.IntN(3)]}
		var batches, sizes []int
		for s.Rank = range s.World {
			batches = append(batches, s.Batches())
			sizes = append(sizes, s.Entries())
		}
		differ := 0
		if s.Tail == order.Uneven {
			differ = 1
		}
		if slices.Max(batches)-slices.Min(batches) > differ || slices.Max(sizes)-slices.Min(sizes) > differ {
			t.Fatalf("%+v: ranks have %v batches, %v entries", s, batches, sizes)
		}
	}
}

// TestResume checks that the samples left after any step come exactly once, for any number of
// ranks and any batch size with which the epoch resumes, several times over.
func TestResume(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	plan, err := order.New(order.Spec{Kind: order.Block, Block: 8, Window: 3}, order.Data{Samples: 300})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		o := plan.Epoch(uint64(i), i)
		seen := make([]int, o.Len())
		start := 0
		for start < o.Len() {
			s := rankBatches{Len: o.Len(), Start: start, Batch: 1 + r.IntN(20), World: 1 + r.IntN(5), Tail: order.Pad}
			steps := rankedSteps(t, s)
			stop := r.IntN(len(steps)) // the last step that is taken
			for _, step := range steps[:stop+1] {
				for _, p := range step {
					if p < o.Len() {
						seen[o.At(p)]++
					}
				}
			}
			start = s.End(stop)
		}
		if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
			t.Fatalf("epoch %d: samples come from %d to %d times", i, slices.Min(seen), slices.Max(seen))
		}
	}
}
