package order

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/reader/augment"
)

// Part is a dataset that is mixed with others.
type Part struct {
	Samples int
	Weight  float64 // its share of the positions, as a multiple of the other parts' weights
}

// maxCycle is the length of a cycle for weights that no shorter one has exactly; each part's
// share of the positions is then right to less than its inverse.
const maxCycle = 4096

// Mix plans epochs of several datasets, each part coming by its weight; draws is the number of
// positions of an epoch, 0 is the number of samples. Samples are numbered through the parts.
//
// Positions fall into cycles, as short as the weights allow, in each of which every part has
// the same number of places; a cycle's places are shuffled. The epochs are one sequence:
// each part is gone through without replacement, pass after pass, each in another order, and
// an epoch goes on where the one before ended. So at the end of any cycle each sample of a part
// has come as often as the others, or once more. The Orders are of type *Mixture.
func Mix(parts []Part, draws int) (*Plan, error) {
	if draws < 0 {
		return nil, fmt.Errorf("mixture of %d draws: the number must be positive", draws)
	}
	m := mix{parts: make([]mixPart, len(parts))}
	for k, p := range parts {
		if p.Samples < 1 || p.Samples > math.MaxInt32 {
			return nil, fmt.Errorf("mixture: part %d has %d samples", k, p.Samples)
		}
		m.parts[k].among = domainOf(p.Samples)
		m.parts[k].first = m.samples
		m.samples += p.Samples
	}
	counts, err := cycleCounts(parts)
	if err != nil {
		return nil, fmt.Errorf("mixture: %w", err)
	}
	var name strings.Builder
	for k, c := range counts {
		m.cycle += c
		m.parts[k].count = c
		m.ends = append(m.ends, m.cycle)
		fmt.Fprintf(&name, " %dx%d", c, parts[k].Samples)
	}
	m.among = domainOf(m.cycle)
	m.n = draws
	if m.n == 0 {
		m.n = m.samples
	}
	return &Plan{
		positions: m.n, samples: m.samples, repeats: true,
		name:  fmt.Sprintf("mix:%d of%s", m.n, name.String()),
		epoch: func(seed uint64, epoch int) Order { return newMixture(&m, seed, epoch) },
	}, nil
}

// cycleCounts is each part's places in the shortest cycle that has the weights exactly.
func cycleCounts(parts []Part) ([]int, error) {
	total := 0.
	for k, p := range parts {
		if !(p.Weight > 0 && p.Weight <= math.MaxFloat64) {
			return nil, fmt.Errorf("part %d has weight %g", k, p.Weight)
		}
		total += p.Weight
	}
	if len(parts) == 0 || math.IsInf(total, 0) {
		return nil, fmt.Errorf("the weights of %d parts add up to %g", len(parts), total)
	}
	shares := make([]float64, len(parts))
	for k, p := range parts {
		shares[k] = p.Weight / total
	}
	cycle := 1
	for cycle < maxCycle && !wholeIn(shares, cycle) {
		cycle++
	}
	counts := largestRemainders(shares, cycle)
	if k := slices.Index(counts, 0); k >= 0 {
		return nil, fmt.Errorf("part %d has weight %g of %g, less than one position of %d", k, parts[k].Weight, total, cycle)
	}
	return counts, nil
}

// wholeIn says whether the shares of a cycle are whole numbers, but for rounding.
func wholeIn(shares []float64, cycle int) bool {
	return !slices.ContainsFunc(shares, func(share float64) bool {
		x := share * float64(cycle)
		return math.Round(x) < 1 || math.Abs(x-math.Round(x)) > 1e-9*float64(cycle)
	})
}

// largestRemainders are whole numbers near the shares that add up to the cycle.
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

// mix is what all epochs of a mixture have in common.
type mix struct {
	n, samples, cycle int
	among             domain // a cycle
	parts             []mixPart
	ends              []int // of the parts' places in a cycle before it is shuffled
}

type mixPart struct {
	first int // number of its first sample
	count int // places in a cycle
	among domain
}

// Mixture is the order of an epoch over several datasets.
type Mixture struct {
	*mix
	start  int     // the epoch's first position in the sequence
	cycles network // permutes a cycle's places
	passes network // permutes a part's samples
}

func newMixture(m *mix, seed uint64, epoch int) *Mixture {
	r := augment.NewRand(seed, 0, mixtureKey) // of all epochs
	return &Mixture{mix: m, start: epoch * m.n, cycles: newNetwork(&r), passes: newNetwork(&r)}
}

// Len is the number of positions.
func (o *Mixture) Len() int { return o.n }

// At is the sample at a position, numbered through the parts.
func (o *Mixture) At(position int) int {
	part, sample := o.Part(position)
	return o.parts[part].first + sample
}

// Part is the part that a position's sample is of, and the sample's number there.
func (o *Mixture) Part(position int) (part, sample int) {
	position += o.start
	cycle := position / o.cycle
	place := o.cycles.at(o.among, augment.Mix(uint64(cycle)), position%o.cycle)
	part, _ = slices.BinarySearch(o.ends, place+1)
	p := &o.parts[part]
	taken := cycle*p.count + place - (o.ends[part] - p.count)
	n := int(p.among.n)
	tweak := augment.Mix(augment.Mix(uint64(part)+1) ^ uint64(taken/n))
	return part, o.passes.at(p.among, tweak, taken%n)
}
