package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// shares is the probability of each item that a table stands for, by its buckets.
func (t table) shares() []float64 {
	p := make([]float64, len(t))
	for i, b := range t {
		own := float64(b.threshold) / float64(one)
		p[i] += own / float64(len(t))
		p[b.other] += (1 - own) / float64(len(t))
	}
	return p
}

// TestTableIsExact holds that a table has the weights to 2^-32 of their mean, and nothing that
// has no weight.
func TestTableIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func(i int) float64{
		"equal":     func(int) float64 { return 0.1 },
		"uniform":   func(int) float64 { return r.Float64() },
		"few":       func(i int) float64 { return float64(i % 2) },
		"one":       func(i int) float64 { return map[bool]float64{i == 0: 3}[true] },
		"power law": func(i int) float64 { return math.Pow(float64(i+1), -1.2) },
		"extreme":   func(i int) float64 { return math.Ldexp(1, i%600-300) },
		"tiny":      func(int) float64 { return 5e-324 },
	}
	for name, weight := range kinds {
		for _, n := range []int{1, 2, 3, 7, 64, 1000, 4097} {
			if name == "few" && n == 1 {
				continue
			}
			weights, total := make([]float64, n), 0.
			for i := range weights {
				weights[i] = weight(i)
				total += weights[i]
			}
			tab, err := newTable(n, func(i int) float64 { return weights[i] })
			if err != nil {
				t.Fatalf("%s of %d: %v", name, n, err)
			}
			for i, p := range tab.shares() {
				want := weights[i] / total
				if math.Abs(p-want) > 2*0x1p-32/float64(n)+1e-14 {
					t.Fatalf("%s of %d: item %d has %g, want %g", name, n, i, p, want)
				}
				if weights[i] == 0 && p != 0 {
					t.Fatalf("%s of %d: item %d without weight has %g", name, n, i, p)
				}
			}
		}
	}
}

// TestDrawAtTheEdges holds which of a bucket's 2^32 parts are whose.
func TestDrawAtTheEdges(t *testing.T) {
	tab, err := newTable(4, func(i int) float64 { return []float64{0, 1, 2.5, 0.5}[i] })
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range tab {
		for _, part := range []uint64{0, uint64(b.threshold) - 1, uint64(b.threshold), one - 1} {
			if part >= one {
				continue
			}
			want := int(b.other)
			if part < uint64(b.threshold) {
				want = i
			}
			u := uint64(i)<<62 | part<<30
			if got := tab.draw(u); got != want || got == 0 {
				t.Errorf("part %d of bucket %d, %+v, is %d's", part, i, b, got)
			}
		}
	}
}

func TestTableRefuses(t *testing.T) {
	calls := 0
	for name, weight := range map[string]func(i int) float64{
		"negative": func(i int) float64 { return float64(2 - i) },
		"NaN":      func(int) float64 { return math.NaN() },
		"infinite": func(int) float64 { return math.Inf(1) },
		"zero":     func(int) float64 { return 0 },
		"overflow": func(int) float64 { return math.MaxFloat64 },
		"unsteady": func(int) float64 { calls++; return float64(calls * calls % 17) },
	} {
		if _, err := newTable(10, weight); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := newTable(0, nil); err == nil {
		t.Error("no items: no error")
	}
}

// TestDrawsFollowTheWeights compares frequencies with the weights, within an epoch and at one
// position of many epochs.
func TestDrawsFollowTheWeights(t *testing.T) {
	const n, draws = 50, 200_000
	weights := make([]float64, n)
	total := 0.
	for i := range weights {
		weights[i] = float64(i % 7) // 8 of them 0
		total += weights[i]
	}
	weight := func(i int) float64 { return weights[i] }
	p := mustPlan(t, fmt.Sprintf("weighted:%d", draws), Data{Samples: n, Weight: weight})
	if p.Len() != draws || p.samples != n || !p.Repeats() {
		t.Fatalf("%s: %d positions, %d samples, repeats %t", p, p.Len(), p.samples, p.Repeats())
	}
	within, across := make([]int, n), make([]int, n)
	o := p.Epoch(11, 0)
	for position := range draws {
		within[o.At(position)]++
	}
	for epoch := range draws {
		across[p.Epoch(11, epoch).At(3)]++
	}
	for what, counts := range map[string][]int{"positions": within, "epochs": across} {
		chi := 0.
		for i, c := range counts {
			want := draws * weights[i] / total
			if want == 0 {
				if c > 0 {
					t.Errorf("%s: sample %d of weight 0 comes %d times", what, i, c)
				}
				continue
			}
			chi += (float64(c) - want) * (float64(c) - want) / want
		}
		if chi > 80 { // of 41 degrees of freedom: 1 in 4,000
			t.Errorf("%s: chi square %.0f", what, chi)
		}
	}
}

func TestBalancedClassesAreAlike(t *testing.T) {
	const n, draws = 1000, 100_000
	label := func(i int) int64 { // classes of 900, 89 and 10 samples, and one without a label
		switch {
		case i < 900:
			return 5
		case i < 989:
			return 0
		case i < 999:
			return 77
		}
		return -1
	}
	o := mustPlan(t, fmt.Sprintf("balanced:%d", draws), Data{Samples: n, Label: label}).Epoch(1, 0)
	counts, small := map[int64]int{}, make([]int, 10)
	for position := range draws {
		s := o.At(position)
		counts[label(s)]++
		if s >= 989 && s < 999 {
			small[s-989]++
		}
	}
	if counts[-1] != 0 {
		t.Errorf("the sample without a label comes %d times", counts[-1])
	}
	checkEven(t, "classes", []int{counts[0], counts[5], counts[77]}, draws/3., 0)
	checkEven(t, "samples", small, draws/30., 0)
}

func TestWeightedNeedsItsData(t *testing.T) {
	for _, kind := range []Kind{Weighted, Balanced} {
		if _, err := New(Spec{Kind: kind}, Data{Samples: 3}); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
	d := Data{Samples: 3, Weight: func(i int) float64 { return float64(i) }}
	a := mustPlan(t, "weighted", d).String()
	d.Weight = func(i int) float64 { return float64(3 - i) }
	if b := mustPlan(t, "weighted", d).String(); a == b {
		t.Errorf("%s: the weights are not told", a)
	}
}
