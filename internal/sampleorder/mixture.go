package sampleorder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/reader/random"
)

// WeightedDataset is one dataset of a mixture.
type WeightedDataset struct {
	Samples int
	Weight  float64 // its share of the positions, relative to the weights of the others
}

// maxCycle is the length of a cycle for weights that no shorter cycle represents exactly. Each
// dataset's share of the positions is then off by less than 1/maxCycle.
const maxCycle = 4096

// PlanMixture plans epochs that draw from several datasets by weight. draws is the number of
// positions of an epoch, 0 is the number of samples. Samples are numbered through all datasets, one
// after the other.
//
// Positions fall into cycles, as short as the weights allow. Each dataset has the same number of
// positions in every cycle; the positions of a cycle are shuffled. The epochs are one sequence:
// each dataset is sampled without replacement, pass after pass, in another order each pass, and
// an epoch continues where the previous one ended. So at the end of any cycle the samples of a
// dataset have been used equally often, give or take one.
func PlanMixture(datasets []WeightedDataset, draws int) (*Plan, error) {
	if draws < 0 {
		return nil, fmt.Errorf("mixture of %d draws: the number must not be negative", draws)
	}
	m := mixturePlan{datasets: make([]mixtureDataset, len(datasets))}
	for k, d := range datasets {
		if d.Samples < 1 || d.Samples > math.MaxInt32 {
			return nil, fmt.Errorf("mixture: dataset %d has %d samples, wanted 1 to %d", k, d.Samples, math.MaxInt32)
		}
		m.datasets[k].among = domainOf(d.Samples)
		m.datasets[k].first = m.samples
		m.samples += d.Samples
	}
	counts, err := cycleCounts(datasets)
	if err != nil {
		return nil, fmt.Errorf("mixture: %w", err)
	}
	var name strings.Builder
	for k, c := range counts {
		m.cycle += c
		m.datasets[k].count = c
		m.ends = append(m.ends, m.cycle)
		fmt.Fprintf(&name, " %dx%d", c, datasets[k].Samples)
	}
	m.among = domainOf(m.cycle)
	m.n = cmp.Or(draws, m.samples)
	return &Plan{
		positions: m.n, samples: m.samples, repeats: true,
		name:  fmt.Sprintf("mix:%d of%s", m.n, name.String()),
		epoch: func(seed uint64, epoch int) Order { return newMixture(&m, seed, epoch) },
	}, nil
}

// cycleCounts returns each dataset's number of positions in the shortest cycle that represents the
// weights exactly.
func cycleCounts(datasets []WeightedDataset) ([]int, error) {
	total := 0.
	for k, d := range datasets {
		if !(d.Weight > 0 && d.Weight <= math.MaxFloat64) {
			return nil, fmt.Errorf("dataset %d has weight %g, which must be positive", k, d.Weight)
		}
		total += d.Weight
	}
	if len(datasets) == 0 || math.IsInf(total, 0) {
		return nil, fmt.Errorf("the weights of %d datasets add up to %g", len(datasets), total)
	}
	shares := make([]float64, len(datasets))
	for k, d := range datasets {
		shares[k] = d.Weight / total
	}
	cycle := 1
	for cycle < maxCycle && !wholeIn(shares, cycle) {
		cycle++
	}
	counts := largestRemainders(shares, cycle)
	if k := slices.Index(counts, 0); k >= 0 {
		return nil, fmt.Errorf("dataset %d has weight %g of %g, less than one position of %d", k, datasets[k].Weight, total, cycle)
	}
	return counts, nil
}

// wholeIn reports whether the shares of a cycle are whole numbers, up to rounding errors.
func wholeIn(shares []float64, cycle int) bool {
	return !slices.ContainsFunc(shares, func(share float64) bool {
		x := share * float64(cycle)
		return math.Round(x) < 1 || math.Abs(x-math.Round(x)) > 1e-9*float64(cycle)
	})
}

// largestRemainders rounds the shares of a cycle to whole numbers that add up to it, by the largest
// remainder method.
func largestRemainders(shares []float64, cycle int) []int {
	counts, ranks := make([]int, len(shares)), make([]int, len(shares))
	rest := make([]float64, len(shares))
	left := cycle
	for k, share := range shares {
		x := share * float64(cycle)
		counts[k] = int(x + 1e-9*float64(cycle))
		rest[k], ranks[k] = x-float64(counts[k]), k
		left -= counts[k]
	}
	slices.SortStableFunc(ranks, func(a, b int) int {
		if rest[a] > rest[b] {
			return -1
		} else if rest[a] < rest[b] {
			return 1
		}
		return 0
	})
	for _, k := range ranks[:left] {
		counts[k]++
	}
	return counts
}

// mixturePlan is what all epochs of a mixture have in common.
type mixturePlan struct {
	n, samples, cycle int
	among             domain // a cycle
	datasets          []mixtureDataset
	ends              []int // where each dataset's positions end in a cycle before it is shuffled
}

type mixtureDataset struct {
	first int // number of its first sample
	count int // positions in a cycle
	among domain
}

// mixture is the order of an epoch over several datasets.
type mixture struct {
	*mixturePlan
	start  int     // the epoch's first position in the sequence
	cycles network // permutes the positions of a cycle
	passes network // permutes the samples of a dataset
}

func newMixture(m *mixturePlan, seed uint64, epoch int) *mixture {
	r := random.NewRand(seed, 0, mixtureKey) // the same in all epochs
	return &mixture{mixturePlan: m, start: epoch * m.n, cycles: newNetwork(&r), passes: newNetwork(&r)}
}

// Len is the number of positions.
func (o *mixture) Len() int { return o.n }

// At is the sample at a position, numbered through all datasets.
func (o *mixture) At(position int) int {
	dataset, sample := o.locate(position)
	return o.datasets[dataset].first + sample
}

// locate returns the dataset of a position's sample, and the sample's number in it.
func (o *mixture) locate(position int) (dataset, sample int) {
	position += o.start
	cycle := position / o.cycle
	slot := o.cycles.at(o.among, random.Mix(uint64(cycle)), position%o.cycle)
	dataset, _ = slices.BinarySearch(o.ends, slot+1)
	d := &o.datasets[dataset]
	taken := cycle*d.count + slot - (o.ends[dataset] - d.count)
	n := int(d.among.n)
	tweak := random.Mix(random.Mix(uint64(dataset)+1) ^ uint64(taken/n))
	return dataset, o.passes.at(d.among, tweak, taken%n)
}
