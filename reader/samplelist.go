package reader

import (
	"fmt"
	"iter"

	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// Entries is how many Order gives.
func (l *Loader) Entries(position int) int { return l.rankBatches(position).Entries() }

// Entry is one place of a batch.
type Entry struct {
	Sample   int  // numbered in order of key as At's are
	Position int  // in the epoch, over all ranks
	Padding  bool // it should not be counted
}

// Repeats reports whether a sample may come more than once in an epoch of the Loader's order.
func (l *Loader) Repeats() bool { return l.plan.Repeats() }

// Order gives what this rank takes from a position of an epoch on, batch after batch.
func (l *Loader) Order(epoch, position int) iter.Seq[Entry] {
	rank, o := l.rankBatches(position), l.plan.Epoch(l.config.Seed, epoch)
	return func(yield func(Entry) bool) {
		for k := range rank.Batches() {
			first, size := rank.Span(k)
			for at := first; at < first+size; at++ {
				if !yield(Entry{o.At(at % o.Len()), at % o.Len(), at >= o.Len()}) {
					return
				}
			}
		}
	}
}

// StartList sets the workers to work on the given samples from a position on, numbered in order
// of key as At's are, in the order that they have: the epoch of a sampler that the Loader knows
// nothing of. They are this rank's alone. What their transforms draw is keyed as in Epoch. list
// must stay as it is until the run is stopped. allocate is as Start's.
func (l *Loader) StartList(list []int32, epoch, position int, allocate Allocator) (*Run, error) {
	seen := make([]uint64, (l.samples.Len()+63)/64)
	repeats := false
	for _, s := range list {
		if s < 0 || int(s) >= l.samples.Len() {
			return nil, fmt.Errorf("sample %d of a list: there are %d", s, l.samples.Len())
		}
		repeats = repeats || seen[s/64]>>(s%64)&1 == 1
		seen[s/64] |= 1 << (s % 64)
	}
	if position < 0 || position > len(list) {
		return nil, fmt.Errorf("position %d of a list of %d samples", position, len(list))
	}
	c := &l.config
	return l.run(&Run{
		allocate: allocate, order: listed{list}, epoch: epoch, repeats: repeats,
		rank:    order.RankBatches{Len: len(list), Start: position, Batch: c.BatchSize, World: 1, Tail: c.Tail},
		rankKey: listRank(c.Rank),
	})
}

// listRank tells apart what the lists of different ranks draw.
func listRank(rank int) uint64 { return augment.Mix(uint64(rank)) }

// listed is the order of a list.
type listed struct{ samples []int32 }

func (o listed) Len() int            { return len(o.samples) }
func (o listed) At(position int) int { return int(o.samples[position]) }
