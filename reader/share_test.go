package reader

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShare holds for many sizes that all ranks have the same batches and that together
// they have one rank's epoch, in its order, step by step.
func TestShare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n, batch, world, drop := r.IntN(200), 1+r.IntN(20), 1+r.IntN(9), r.IntN(2) == 0
		one := share{n: n, batch: batch * world, world: 1, dropLast: drop}
		var all []int
		padding := 0
		for k := range one.batches() {
			var sizes []int
			for rank := range world {
				s := share{n: n, batch: batch, rank: rank, world: world, dropLast: drop}
				if s.batches() != one.batches() {
					t.Fatalf("%+v: %d batches, %d alone", s, s.batches(), one.batches())
				}
				first, size := s.span(k)
				sizes = append(sizes, size)
				for p := first; p < first+size; p++ {
					if p < n {
						all = append(all, p)
					} else {
						padding++
					}
				}
			}
			if slices.Min(sizes) != slices.Max(sizes) || sizes[0] > batch || sizes[0] < 1 {
				t.Fatalf("n=%d batch=%d world=%d: step %d has sizes %v", n, batch, world, k, sizes)
			}
		}
		want := n
		if drop {
			want = n / (batch * world) * batch * world
		}
		if len(all) != want || padding >= world {
			t.Fatalf("n=%d batch=%d world=%d: %d samples and %d padding, want %d", n, batch, world, len(all), padding, want)
		}
		for p, got := range all {
			if p != got {
				t.Fatalf("n=%d batch=%d world=%d: position %d comes at %d", n, batch, world, got, p)
			}
		}
	}
}

func TestShareCountsItsSamples(t *testing.T) {
	for n := range 60 {
		for _, drop := range []bool{false, true} {
			s := share{n: n, batch: 4, rank: 2, world: 3, dropLast: drop}
			sum := 0
			for k := range s.batches() {
				_, size := s.span(k)
				sum += size
			}
			if sum != s.samples() {
				t.Errorf("n=%d: samples() is %d, the batches have %d", n, s.samples(), sum)
			}
		}
	}
}
