package reader

import (
	"iter"

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

// listRank makes the random draws of different ranks' lists differ.
func listRank(rank int) uint64 { return random.Mix(uint64(rank)) }

// listed is the order of a list.
type listed struct{ samples []int32 }

func (o listed) Len() int            { return len(o.samples) }
func (o listed) At(position int) int { return int(o.samples[position]) }
