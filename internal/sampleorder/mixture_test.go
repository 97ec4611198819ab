package sampleorder

import (
	"math"
	"slices"
	"testing"
)

func mustPlanMixture(t *testing.T, datasets []WeightedDataset, draws int) *Plan {
	t.Helper()
	p, err := PlanMixture(datasets, draws)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCycles(t *testing.T) {
	for _, c := range []struct{ weights, want []float64 }{
		{[]float64{1}, []float64{1}},
		{[]float64{5, 5}, []float64{1, 1}},
		{[]float64{0.7, 0.2, 0.1}, []float64{7, 2, 1}},
		{[]float64{1. / 3, 2. / 3}, []float64{1, 2}},
		{[]float64{0.333, 0.333, 0.334}, []float64{333, 333, 334}},
		{[]float64{math.Pi, 1}, []float64{3107, 989}}, // of 4096
	} {
		var datasets []WeightedDataset
		for _, w := range c.weights {
			datasets = append(datasets, WeightedDataset{Samples: 10, Weight: w})
		}
		got, err := cycleCounts(datasets)
		if err != nil || !slices.EqualFunc(got, c.want, func(a int, b float64) bool { return float64(a) == b }) {
			t.Errorf("weights %v: %v %v, want %v", c.weights, got, err, c.want)
		}
	}
}

func TestPlanMixtureRefuses(t *testing.T) {
	for name, datasets := range map[string][]WeightedDataset{
		"nothing":     nil,
		"no samples":  {{0, 1}},
		"no weight":   {{5, 1}, {5, 0}},
		"negative":    {{5, 1}, {5, -1}},
		"NaN":         {{5, math.NaN()}},
		"overflow":    {{5, math.MaxFloat64}, {5, math.MaxFloat64}},
		"too unequal": {{5, 1}, {5, 1e-9}},
	} {
		if _, err := PlanMixture(datasets, 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := PlanMixture([]WeightedDataset{{1, 1}}, -1); err == nil {
		t.Error("negative draws: no error")
	}
}

// TestMixtureIsExact holds over several epochs, whose length is no multiple of a cycle, that each
// cycle has each dataset by its weight, and that behind each cycle all samples of a dataset have come
// as often, or once more where a pass has begun.
func TestMixtureIsExact(t *testing.T) {
	datasets := []WeightedDataset{{Samples: 37, Weight: 0.5}, {Samples: 400, Weight: 0.3}, {Samples: 1, Weight: 0.2}}
	p := mustPlanMixture(t, datasets, 123)
	if p.Len() != 123 || p.samples != 438 {
		t.Fatalf("%s: %d positions of %d samples", p, p.Len(), p.samples)
	}
	first := []int{0, 37, 437}
	taken := [][]int{make([]int, 37), make([]int, 400), make([]int, 1)}
	inCycle := make([]int, 3)
	for i := range 50 * 123 {
		o := p.Epoch(3, i/123).(*mixture)
		dataset, sample := o.locate(i % 123)
		if o.At(i%123) != first[dataset]+sample {
			t.Fatalf("position %d: %d is not sample %d of dataset %d", i, o.At(i%123), sample, dataset)
		}
		taken[dataset][sample]++
		inCycle[dataset]++
		if i%10 != 9 {
			continue
		}
		if !slices.Equal(inCycle, []int{5, 3, 2}) {
			t.Fatalf("cycle %d has %v", i/10, inCycle)
		}
		clear(inCycle)
		for k, counts := range taken {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Fatalf("cycle %d: samples of dataset %d came from %d to %d times", i/10, k, slices.Min(counts), slices.Max(counts))
			}
		}
	}
}

// TestMixtureIsShuffled holds that the datasets come at no fixed positions of a cycle and the samples
// at no fixed positions of a pass.
func TestMixtureIsShuffled(t *testing.T) {
	const passes = 20_000
	p := mustPlanMixture(t, []WeightedDataset{{Samples: 3, Weight: 1}, {Samples: 3, Weight: 1}, {Samples: 3, Weight: 1}}, 9*passes)
	o := p.Epoch(8, 0).(*mixture)
	place, sample := make([]int, 9), make([]int, 9)
	var taken [3]int
	for position := range 9 * passes {
		dataset, s := o.locate(position)
		place[position%3*3+dataset]++
		if dataset == 1 {
			sample[taken[dataset]%3*3+s]++
		}
		taken[dataset]++
	}
	checkEven(t, "places of a cycle", place, 3*passes/3, 0)
	checkEven(t, "places of a pass", sample, passes/3, 0)
}
