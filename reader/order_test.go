package reader

import (
	"fmt"
	"slices"
	"testing"
)

func TestOrderIsAPermutation(t *testing.T) {
	sizes := []int{1000, 1023, 1024, 1025, 65537}
	for n := 1; n < 70; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		seen := make([]bool, n)
		o := newOrder(n, true, 42, 3)
		for p := range n {
			s := o.at(p)
			if s < 0 || s >= n || seen[s] {
				t.Fatalf("n=%d: position %d gives %d", n, p, s)
			}
			seen[s] = true
		}
	}
}

func TestOrderDiffersBySeedAndEpoch(t *testing.T) {
	list := func(seed uint64, epoch int) (l []int) {
		o := newOrder(500, true, seed, epoch)
		for p := range 500 {
			l = append(l, o.at(p))
		}
		return l
	}
	if !slices.Equal(list(1, 2), list(1, 2)) {
		t.Error("the same seed and epoch give different orders")
	}
	for _, other := range [][]int{list(2, 2), list(1, 3), list(2, 1)} {
		same := 0
		for p, s := range list(1, 2) {
			if other[p] == s {
				same++
			}
		}
		if same > 10 { // 1 is expected
			t.Errorf("%d of 500 samples are at the same position", same)
		}
	}
}

// TestOrderIsUniform holds that each sample is as likely at each position, and each
// sample as likely behind each other one.
func TestOrderIsUniform(t *testing.T) {
	const epochs = 20_000
	for _, n := range []int{2, 3, 5, 8, 13, 24} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			at, next := make([]int, n*n), make([]int, n*n)
			for epoch := range epochs {
				o := newOrder(n, true, 9, epoch)
				before := -1
				for p := range n {
					s := o.at(p)
					at[p*n+s]++
					if before >= 0 {
						next[before*n+s]++
					}
					before = s
				}
			}
			checkEven(t, "position", at, float64(epochs)/float64(n), 0)
			checkEven(t, "successor", next, float64(epochs)/float64(n), n)
		})
	}
}

// checkEven compares counts with their expectation by a generous chi square; the diagonal
// of an n by n table is left out where n is not 0.
func checkEven(t *testing.T, what string, counts []int, want float64, n int) {
	t.Helper()
	chi, degrees := 0., 0.
	for i, c := range counts {
		if n > 0 && i/n == i%n {
			continue
		}
		chi += (float64(c) - want) * (float64(c) - want) / want
		degrees++
	}
	if chi > 1.5*degrees+20 {
		t.Errorf("%s: chi square %.0f of %.0f counts", what, chi, degrees)
	}
}

func BenchmarkOrder(b *testing.B) {
	o := newOrder(1_281_167, true, 1, 0)
	for i := 0; b.Loop(); i++ {
		o.at(i % 1_281_167)
	}
}
