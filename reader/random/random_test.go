package random

import (
	"math"
	"strings"
	"testing"
)

func TestRandDependsOnEveryPartOfTheKey(t *testing.T) {
	seen := map[uint64][3]int{}
	for seed := range 20 {
		for epoch := range 20 {
			for sample := -1; sample < 20; sample++ {
				r := NewRand(uint64(seed), epoch, sample)
				x, key := r.Uint64(), [3]int{seed, epoch, sample}
				if other, ok := seen[x]; ok {
					t.Fatalf("keys %v and %v draw the same", key, other)
				}
				seen[x] = key
			}
		}
	}
}

func TestRandIsUniform(t *testing.T) {
	const n, bins = 200_000, 16
	var floats, ints [bins]int
	for i := range n / 10 {
		r := NewRand(7, 3, i) // few draws a key, as samples draw
		for range 5 {
			floats[int(r.Float64()*bins)]++
			ints[r.IntN(bins)]++
		}
	}
	for _, counts := range [][bins]int{floats, ints} {
		want, chi := float64(n)/2/bins, 0.
		for _, c := range counts {
			chi += (float64(c) - want) * (float64(c) - want) / want
		}
		if chi > 37.7 { // 15 degrees of freedom, p = 0.001
			t.Errorf("chi square %.1f of %v", chi, counts)
		}
	}
}

func TestUniformStaysInRange(t *testing.T) {
	r := NewRand(1, 1, 1)
	sum := 0.
	for range 10_000 {
		x := r.Uniform(-2, 3)
		if x < -2 || x >= 3 {
			t.Fatalf("%v is outside", x)
		}
		sum += x
	}
	if mean := sum / 10_000; math.Abs(mean-0.5) > 0.1 {
		t.Errorf("mean %v, want 0.5", mean)
	}
}

// What has no numbers to draw panics, and does not hang.
func TestNothingToDraw(t *testing.T) {
	var r Rand
	for name, draw := range map[string]func(){
		"IntN(0)": func() { r.IntN(0) }, "IntN(-3)": func() { r.IntN(-3) },
		"Beta(0)": func() { r.Beta(0) }, "Beta(NaN)": func() { r.Beta(math.NaN()) }, "Beta(+Inf)": func() { r.Beta(math.Inf(1)) },
	} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, name) {
					t.Errorf("%s: panic %q", name, p)
				}
			}()
			draw()
		}()
	}
}
