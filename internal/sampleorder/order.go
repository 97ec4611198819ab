package sampleorder

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// Order is the order of an epoch. It is safe for concurrent use.
type Order interface {
	// Len is the number of positions.
	Len() int
	// At is the sample at a position, 0 <= position < Len().
	At(position int) int
}

// Plan makes the orders of a dataset's epochs. It is safe for concurrent use.
type Plan struct {
	positions, samples int
	repeats            bool
	name               string
	epoch              func(seed uint64, epoch int) Order
}

// Len is the number of positions of an epoch.
func (p *Plan) Len() int { return p.positions }

// Repeats reports whether a sample may come more than once in an epoch. What it draws for its
// augmentation should then be keyed by its position, or it looks the same each time.
func (p *Plan) Repeats() bool { return p.repeats }

// String tells all that decides the orders but the seed: plans of equal strings have equal
// orders. It stays the same from run to run.
func (p *Plan) String() string { return p.name }

// Epoch is the order of an epoch, from 0 on.
func (p *Plan) Epoch(seed uint64, epoch int) Order { return p.epoch(seed, epoch) }

// Data is what a plan orders.
type Data struct {
	// Samples is their number, at most 2^31-1.
	Samples int
	// Weight of a sample, for Weighted: not negative, and not all are 0. It is called three
	// times per sample.
	Weight func(sample int) float64
	// Label of a sample, for Balanced. Samples of a label below 0 are never drawn. It is
	// called up to four times per sample.
	Label func(sample int) int64
}

// New plans the epochs of d.
func New(s order.Spec, d Data) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if d.Samples < 0 || d.Samples > math.MaxInt32 {
		return nil, fmt.Errorf("order of %d samples: from 0 to %d can be ordered", d.Samples, math.MaxInt32)
	}
	switch s.Kind {
	case order.Full:
		return planFull(s, d), nil
	case order.Weighted, order.Balanced:
		return planWeighted(s, d)
	default:
		return planStored(s, d), nil
	}
}

func planFull(s order.Spec, d Data) *Plan {
	among := domainOf(d.Samples)
	return &Plan{
		positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples),
		epoch: func(seed uint64, epoch int) Order {
			r := random.NewRand(seed, epoch, fullKey)
			return &full{among: among, network: newNetwork(&r)}
		},
	}
}

// planStored plans the orders that follow the storage, in which samples lie in order of number.
func planStored(s order.Spec, d Data) *Plan {
	p := &Plan{positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples)}
	if s.Kind == order.Block {
		l := newLayout(d.Samples, s.Block, s.Window)
		p.epoch = func(seed uint64, epoch int) Order { return newBlocks(l, seed, epoch) }
		return p
	}
	p.epoch = func(uint64, int) Order { return sequential(d.Samples) }
	return p
}

// full is each sample once, at any position.
type full struct {
	among   domain
	network network
}

func (o *full) Len() int            { return int(o.among.n) }
func (o *full) At(position int) int { return o.network.at(o.among, 0, position) }

// sequential is so many samples as they are stored.
type sequential int

func (o sequential) Len() int            { return int(o) }
func (o sequential) At(position int) int { return position }
