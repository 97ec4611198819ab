package order

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mustPlan is New that must go well.
func mustPlan(t testing.TB, spec string, d Data) *Plan {
	t.Helper()
	s, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(s, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// list is all of an order.
func list(o Order) []int {
	l := make([]int, o.Len())
	for p := range l {
		l[p] = o.At(p)
	}
	return l
}

func checkPermutation(t *testing.T, o Order, n int) {
	t.Helper()
	if o.Len() != n {
		t.Fatalf("there are %d positions, want %d", o.Len(), n)
	}
	seen := make([]bool, n)
	for p := range n {
		s := o.At(p)
		if s < 0 || s >= n || seen[s] {
			t.Fatalf("position %d of %d gives %d", p, n, s)
		}
		seen[s] = true
	}
}

// TestFullOrderIsTheSameForever holds what was promised: these are the orders of the first
// version.
func TestFullOrderIsTheSameForever(t *testing.T) {
	for _, c := range []struct {
		n     int
		seed  uint64
		epoch int
		first []int
	}{
		{5, 0, 0, []int{0, 3, 4, 2, 1}},
		{100, 42, 3, []int{17, 26, 2, 20, 16, 8, 66, 12}},
		{1281167, 1, 89, []int{123541, 402386, 757254, 1069459, 1012287, 883398, 922820, 479719}},
		{50000, 1<<63 + 7, 1, []int{42052, 33121, 14732, 14982, 42508, 47127, 28502, 17186}},
	} {
		o := mustPlan(t, "full", Data{Samples: c.n}).Epoch(c.seed, c.epoch)
		if got := list(o)[:len(c.first)]; !slices.Equal(got, c.first) {
			t.Errorf("n=%d seed=%d epoch=%d: %v, want %v", c.n, c.seed, c.epoch, got, c.first)
		}
	}
}

func TestOrdersArePermutations(t *testing.T) {
	sizes := []int{1000, 1023, 1024, 1025, 65537}
	for n := range 70 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, spec := range []string{"none", "full", "block:1:1", "block:1:5", "block:7:1", "block:4:3", "block:16:4", "block:2000000000:2000000000"} {
			p := mustPlan(t, spec, Data{Samples: n})
			if p.Repeats() || p.samples != n {
				t.Fatalf("%s: repeats %t, samples %d", p, p.Repeats(), p.samples)
			}
			for epoch := range 3 {
				checkPermutation(t, p.Epoch(42, epoch), n)
			}
		}
	}
}

// TestEpochsDiffer holds for all shuffled orders that another seed or epoch is another order,
// and the same is the same.
func TestEpochsDiffer(t *testing.T) {
	const n = 600
	d := Data{Samples: n, Label: func(i int) int64 { return int64(i % 7) }, Weight: func(i int) float64 { return float64(1 + i%3) }}
	var plans []*Plan
	for _, spec := range []string{"full", "block:8:4", "weighted", "balanced"} {
		plans = append(plans, mustPlan(t, spec, d))
	}
	for _, p := range plans {
		a := list(p.Epoch(1, 2))
		if !slices.Equal(a, list(p.Epoch(1, 2))) {
			t.Errorf("%s: the same seed and epoch give different orders", p)
		}
		for _, other := range [][]int{list(p.Epoch(2, 2)), list(p.Epoch(1, 3)), list(p.Epoch(2, 1))} {
			same := 0
			for i := range a {
				if a[i] == other[i] {
					same++
				}
			}
			if same > 15 { // a few are expected
				t.Errorf("%s: %d of %d samples are at the same position", p, same, n)
			}
		}
	}
}

// TestSmallOrdersAreUniform holds that each sample is as likely at each position, and each
// sample as likely behind each other one.
func TestSmallOrdersAreUniform(t *testing.T) {
	const epochs = 10_000
	for _, n := range []int{2, 3, 5, 8, 13, 24} {
		for _, c := range []struct {
			spec       string
			successors bool
		}{{"full", true}, {"block:1:2", false}, {"block:2:2", false}, {"block:3:2", false}, {"block:5:1", false}, {"block:2:24", true}} {
			t.Run(fmt.Sprintf("%s/%d", c.spec, n), func(t *testing.T) {
				p := mustPlan(t, c.spec, Data{Samples: n})
				at, next := make([]int, n*n), make([]int, n*n)
				for epoch := range epochs {
					before := -1
					for position, s := range list(p.Epoch(9, epoch)) {
						at[position*n+s]++
						if before >= 0 {
							next[before*n+s]++
						}
						before = s
					}
				}
				checkEven(t, "position", at, float64(epochs)/float64(n), 0)
				if c.successors {
					checkEven(t, "successor", next, float64(epochs)/float64(n), n)
				}
			})
		}
	}
}

// TestPermutationsOfFewAreAllThere holds that each of the permutations of 4 is as frequent, by
// epochs and by tweaks of one network.
func TestPermutationsOfFewAreAllThere(t *testing.T) {
	const n, draws = 4, 24_000
	index := func(l []int) (x int) {
		for i := range l {
			below := 0
			for _, y := range l[i+1:] {
				if y < l[i] {
					below++
				}
			}
			x = x*(n-i) + below
		}
		return x
	}
	full := mustPlan(t, "full", Data{Samples: n})
	windows := newBlocks(newLayout(n*draws, 1, n), 5, 0)
	epochs, tweaks := make([]int, 24), make([]int, 24)
	for i := range draws {
		epochs[index(list(full.Epoch(5, i)))]++
		var l []int
		for x := range n {
			l = append(l, windows.within.at(domainOf(n), tweak(i), x))
		}
		tweaks[index(l)]++
	}
	checkEven(t, "epochs", epochs, draws/24, 0)
	checkEven(t, "tweaks", tweaks, draws/24, 0)
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

func TestAtAllocatesNothing(t *testing.T) {
	for _, o := range benchmarked(t, 10_000) {
		position := 0
		if a := testing.AllocsPerRun(1000, func() {
			o.At(position)
			position++
		}); a != 0 {
			t.Errorf("%T: %g allocations", o, a)
		}
	}
}

// benchmarked is an order of each kind.
func benchmarked(t testing.TB, n int) map[string]Order {
	d := Data{
		Samples: n,
		Label:   func(i int) int64 { return int64(i % 1000) },
		Weight:  func(i int) float64 { return float64(i%10 + 1) },
	}
	orders := map[string]Order{}
	for _, spec := range []string{"none", "full", "block:256:64", "weighted", "balanced"} {
		orders[strings.ReplaceAll(spec, ":", "-")] = mustPlan(t, spec, d).Epoch(1, 0)
	}
	return orders
}

func BenchmarkAt(b *testing.B) {
	for name, o := range benchmarked(b, 1_281_167) {
		b.Run(name, func(b *testing.B) {
			n := o.Len()
			for i := 0; b.Loop(); i++ {
				o.At(i % n)
			}
		})
	}
}

func TestNegativeNumberOfSamples(t *testing.T) {
	if _, err := New(Spec{}, Data{Samples: -1}); err == nil {
		t.Error("-1 samples are taken")
	}
}
