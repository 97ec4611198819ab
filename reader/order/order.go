package order

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/reader/augment"
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

// Samples is the number of samples that the orders choose from: those are 0 to Samples()-1.
func (p *Plan) Samples() int { return p.samples }

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
	// Storage is the sample at each place of the storage, for orders that follow the storage
	// (None and Block). Where it is nil, samples are stored in order of number.
	Storage []int32
	// Weight of a sample, for Weighted: not negative, and not all are 0. It is called three
	// times a sample.
	Weight func(sample int) float64
	// Label of a sample, for Balanced. Samples of a label below 0 are never drawn. It is
	// called up to four times a sample.
	Label func(sample int) int64
}

// New plans the epochs of d.
func New(s Spec, d Data) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if d.Samples < 0 || d.Samples > math.MaxInt32 {
		return nil, fmt.Errorf("order of %d samples: from 0 to %d can be ordered", d.Samples, math.MaxInt32)
	}
	switch s.Kind {
	case Full:
		return planFull(s, d), nil
	case Weighted, Balanced:
		return planWeighted(s, d)
	default:
		return planStored(s, d)
	}
}

func planFull(s Spec, d Data) *Plan {
	among := domainOf(d.Samples)
	return &Plan{
		positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples),
		epoch: func(seed uint64, epoch int) Order {
			r := augment.NewRand(seed, epoch, fullKey)
			return &full{among: among, network: newNetwork(&r)}
		},
	}
}

// planStored plans the orders that follow the storage.
func planStored(s Spec, d Data) (*Plan, error) {
	p := &Plan{positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples)}
	if d.Storage != nil {
		if err := checkStorage(d); err != nil {
			return nil, err
		}
		p.name += fmt.Sprintf(", storage %016x", digest(d.Storage))
	}
	if s.Kind == Block {
		l := newLayout(d, s.Block, s.Window)
		p.epoch = func(seed uint64, epoch int) Order { return newBlocks(l, seed, epoch) }
		return p, nil
	}
	o := &sequential{n: d.Samples, storage: d.Storage}
	p.epoch = func(uint64, int) Order { return o }
	return p, nil
}

// checkStorage holds that each sample has one place.
func checkStorage(d Data) error {
	if len(d.Storage) != d.Samples {
		return fmt.Errorf("order of storage: %d places for %d samples", len(d.Storage), d.Samples)
	}
	seen := make([]uint64, (d.Samples+63)/64)
	for _, s := range d.Storage {
		if s < 0 || int(s) >= d.Samples || seen[s/64]>>(s%64)&1 == 1 {
			return errors.New("order of storage: it is no permutation of the samples")
		}
		seen[s/64] |= 1 << (s % 64)
	}
	return nil
}

// full is each sample once, at any position.
type full struct {
	among   domain
	network network
}

func (o *full) Len() int            { return int(o.among.n) }
func (o *full) At(position int) int { return o.network.at(o.among, 0, position) }

// sequential is the samples as they are stored.
type sequential struct {
	n       int
	storage []int32
}

func (o *sequential) Len() int { return o.n }

func (o *sequential) At(position int) int {
	if o.storage == nil {
		return position
	}
	return int(o.storage[position])
}
