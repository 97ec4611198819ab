package sampleorder

import (
	"math"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/reader/order"
)

// sorted is a dataset of 100 classes, stored one behind the other.
const sorted = 100_000

func sortedLabel(sample int) int64 { return int64(sample / 1000) }

// TestMeasure holds what is known beforehand: a full shuffle by probability, storage order by its
// definition, and blocks in between, the better the more of them.
func TestMeasure(t *testing.T) {
	measure := func(spec string) order.ShuffleQuality {
		p := mustPlan(t, spec, Data{Samples: sorted, Label: sortedLabel})
		return Measure(p, Probe{Label: sortedLabel, Batch: 256, Seed: 1})
	}
	full := measure("full")
	expected := 100 * (1 - math.Pow(0.99, 256)) // classes in a batch, but for the lack of replacement
	if math.Abs(full.Classes-expected) > 0.5 || full.Classes != full.FullClasses || math.Abs(full.Neighbours-1) > 0.03 {
		t.Errorf("full: %+v, want %.1f classes", full, expected)
	}
	none := measure("none")
	if none.Classes > 1.5 || none.Entropy > 0.3 || none.Neighbours < 190 { // 390 batches, pairs on both sides
		t.Errorf("none: %+v", none)
	}
	before := none
	for _, spec := range []string{"block:256:4", "block:256:16", "block:256:64", "block:64:256", "full"} {
		m := measure(spec)
		if m.Classes <= before.Classes || m.Entropy <= before.Entropy || m.Neighbours >= before.Neighbours {
			t.Errorf("%s mixes no better: %s, before %s", spec, m, before)
		}
		before = m
	}
	if m := measure("balanced"); math.Abs(m.Classes/m.FullClasses-1) > 0.01 {
		t.Errorf("balanced: %s", m)
	}
}

func TestNearPairs(t *testing.T) {
	for _, c := range []struct {
		places         []int
		distance, want int
	}{{nil, 3, 0}, {[]int{5, 0, 3}, 3, 1}, {[]int{5, 0, 3}, 4, 2}, {[]int{5, 0, 3}, 6, 3}, {[]int{2, 2, 2, 9}, 1, 3}} {
		m := tally{samples: c.places}
		m.countNear(c.distance)
		if m.near != float64(c.want) {
			t.Errorf("%v within %d: %g pairs, want %d", c.places, c.distance, m.near, c.want)
		}
	}
	for n := 2; n < 20; n++ {
		for distance := 1; distance < 25; distance++ {
			near := 0
			for i := range n {
				for j := range i {
					if i-j < distance {
						near++
					}
				}
			}
			want := float64(near) / float64(n*(n-1)/2)
			if got := nearShare(n, distance); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d places within %d: %g of the pairs, want %g", n, distance, got, want)
			}
		}
	}
}

func TestMeasureBoundsItsWork(t *testing.T) {
	calls := 0
	probe := Probe{Batch: 100, entries: 1000, Label: func(int) int64 { calls++; return 1 }}
	m := Measure(mustPlan(t, "full", Data{Samples: sorted}), probe)
	if calls != 2000 || m.Batches != 10 {
		t.Errorf("%d calls, %d batches", calls, m.Batches)
	}
	if s := m.String(); !strings.HasPrefix(s, "1.0 classes a batch, 1.0 in a full shuffle (100 %); neighbours") {
		t.Errorf("%s", s)
	}
}

func TestMeasureOfLittle(t *testing.T) {
	for n := range 4 {
		for _, batch := range []int{0, 1, 2, 100} {
			for _, spec := range []string{"none", "full", "block:2:2", "balanced:3"} {
				if n == 0 && spec == "balanced:3" {
					continue
				}
				label := func(i int) int64 { return int64(i) }
				m := Measure(mustPlan(t, spec, Data{Samples: n, Label: label}), Probe{Batch: batch, Label: label})
				for _, x := range []float64{m.Classes, m.FullClasses, m.Entropy, m.FullEntropy, m.Neighbours} {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						t.Errorf("%s of %d, batch %d: %+v", spec, n, batch, m)
					}
				}
			}
		}
	}
}
