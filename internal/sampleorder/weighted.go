package sampleorder

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// planWeighted plans draws with replacement.
func planWeighted(s order.Spec, d Data) (*Plan, error) {
	weight := d.Weight
	if s.Kind == order.Balanced {
		if d.Label == nil {
			return nil, errors.New("balanced order: the dataset has no class labels")
		}
		weight = balance(d)
	}
	if weight == nil {
		return nil, errors.New("weighted order: no weights are given")
	}
	t, err := newTable(d.Samples, weight)
	if err != nil {
		return nil, fmt.Errorf("%s order: %w", s.Kind, err)
	}
	n := cmp.Or(s.Draws, d.Samples)
	return &Plan{
		positions: n, samples: d.Samples, repeats: true,
		name: fmt.Sprintf("%s of %d, table %016x", s, d.Samples, t.digest()),
		epoch: func(seed uint64, epoch int) Order {
			r := random.NewRand(seed, epoch, drawKey)
			return &draws{n: n, key: r.Uint64(), table: t}
		},
	}, nil
}

// balance returns weights with which all classes are drawn equally often.
func balance(d Data) func(sample int) float64 {
	counts := map[int64]int{}
	for i := range d.Samples {
		counts[d.Label(i)]++
	}
	return func(sample int) float64 {
		label := d.Label(sample)
		if label < 0 {
			return 0
		}
		return 1 / float64(counts[label])
	}
}

// draws is an order of independent draws: that at position p is a hash of (key, p).
type draws struct {
	n     int
	key   uint64
	table table
}

func (o *draws) Len() int { return o.n }

func (o *draws) At(position int) int {
	return o.table.draw(random.Mix(o.key ^ random.Mix(uint64(position))))
}
