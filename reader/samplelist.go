package reader

import (
	"fmt"
	"iter"

	"github.com/dsconv/dsconv/internal/sampleorder"
	"github.com/dsconv/dsconv/reader/random"
)

// Entries is the number of entries that Order yields.
func (l *Loader) Entries(position int) int { return l.rankBatches(position).Entries() }

// Entry is one entry of a batch.
type Entry struct {
	Sample   int  // index as At's
	Position int  // in the epoch, over all ranks
	Padding  bool // it must not be counted
}

// Repeats reports whether a sample may come more than once in an epoch of the Loader's order.
func (l *Loader) Repeats() bool { return l.plan.Repeats() }

// Order yields this rank's entries from a position of an epoch on, batch after batch.
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

// StartList starts an epoch over the given samples (indices as At's) in the given order, from a
// position on: for an external sampler. The list is this rank's alone. Transforms are seeded as in
// Epoch. list must not change until the run is stopped. allocate is as Start's.
func (l *Loader) StartList(list []int32, epoch, position int, allocate Allocator) (*Run, error) {
	seen := make([]uint64, (l.samples.Len()+63)/64)
	repeats := false
	for _, s := range list {
		if s < 0 || int(s) >= l.samples.Len() {
			return nil, fmt.Errorf("sample %d in a list: the indices are 0 to %d", s, l.samples.Len()-1)
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
		rank:    sampleorder.RankBatches{Len: len(list), Start: position, Batch: c.BatchSize, World: 1, Tail: c.Tail},
		rankKey: listRank(c.Rank),
	})
}

// listRank makes the random draws of different ranks' lists differ.
func listRank(rank int) uint64 { return random.Mix(uint64(rank)) }

// listed is the order of a list.
type listed struct{ samples []int32 }

func (o listed) Len() int            { return len(o.samples) }
func (o listed) At(position int) int { return int(o.samples[position]) }
