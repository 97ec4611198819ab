package contactsheet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/random"
)

// choose returns random ones of the wanted samples, as a Loader of the splits counts them.
func choose(ctx context.Context, ds formats.Dataset, o *Options) ([]int, error) {
	draw := newLottery(o.Samples, o.Seed)
	index := -1 // among those of the splits
	for i := range ds.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := ds.Info(i)
		if err != nil {
			return nil, err
		}
		if len(o.Splits) > 0 && !slices.Contains(o.Splits, in.Split) {
			continue
		}
		if index++; o.Wanted == nil || o.Wanted(i) {
			draw.add(index, in.Label)
		}
	}
	if chosen := draw.winners(); len(chosen) > 0 {
		return chosen, nil
	}
	return nil, fmt.Errorf("%w: there is no sample to show", ErrOptions)
}

// lottery chooses n samples, as many of each class as possible, in memory for 2n samples of each class.
type lottery struct {
	n       int
	seed    uint64
	classes map[int64][]ticket
}

type ticket struct {
	sample int
	draw   uint64
}

func newLottery(n int, seed uint64) *lottery {
	return &lottery{n: n, seed: seed, classes: map[int64][]ticket{}}
}

func (l *lottery) add(sample int, class int64) {
	r := random.NewRand(l.seed, 0, sample)
	l.classes[class] = append(l.classes[class], ticket{sample, r.Uint64()})
	if tickets := l.classes[class]; len(tickets) >= 2*l.n {
		l.classes[class] = l.best(tickets)
	}
}

// best returns the n lowest tickets, in order.
func (l *lottery) best(tickets []ticket) []ticket {
	slices.SortFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.draw, b.draw) })
	return tickets[:min(l.n, len(tickets))]
}

// winners returns the chosen samples: those of one class beside each other.
func (l *lottery) winners() (samples []int) {
	type entry struct {
		ticket
		class int64
		round int // the how-manieth of its class
	}
	var all []entry
	for class, tickets := range l.classes {
		for round, t := range l.best(tickets) {
			all = append(all, entry{t, class, round})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.draw, b.draw), cmp.Compare(a.sample, b.sample))
	})
	all = all[:min(l.n, len(all))]
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.sample, b.sample))
	})
	for _, e := range all {
		samples = append(samples, e.sample)
	}
	return samples
}
