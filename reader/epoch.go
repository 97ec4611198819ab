package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/dsconv/dsconv/reader/random"
)

// Epoch ranges over this rank's batches of an epoch, from 0, in order. A batch is valid until the
// loop's body ends, or until it is released if it is kept. An error comes with a nil batch and
// ends the range: that of ctx, of a sample, with its key, or formats.ErrClosed after the Loader's
// Close. The batches before it still come. With several ranks, entries whose Batch.Indices are below 0
// are padding: do not count them in a mean.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.batchesOf(ctx, func() (RunOptions, error) { return RunOptions{Epoch: epoch}, nil })
}

// Resume ranges over what is left of the epoch, as Epoch does. ErrState is in the chain of
// its first error if s is not from a Loader of the same samples, order and seed.
func (l *Loader) Resume(ctx context.Context, s State) iter.Seq2[*Batch, error] {
	return l.batchesOf(ctx, func() (RunOptions, error) {
		return RunOptions{Epoch: s.Epoch, Position: s.Position}, l.CheckState(s)
	})
}

// batchesOf ranges over the batches of a run.
func (l *Loader) batchesOf(ctx context.Context, options func() (RunOptions, error)) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		o, err := options()
		var r *running
		if err == nil {
			r, err = l.start(ctx, o)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.leave()
		for {
			b, err := r.nextBatch(ctx)
			if errors.Is(err, io.EOF) || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// draw is a sample, by its index in the split, and what the random numbers of its transforms are keyed
// by besides the seed.
type draw struct {
	sample, epoch, number int
	stream                uint64
}

// draw is the draw at a position; positions after the last wrap around.
func (r *running) draw(position int) draw {
	position %= r.order.Len()
	sample := r.order.At(position)
	return drawOf(sample, position, r.epoch, r.repeats, r.rankKey)
}

// drawOf keys by the sample, so that its pixels depend on nothing else. Samples that may come more
// than once in an epoch are keyed by their position.
func drawOf(sample, position, epoch int, repeats bool, rank uint64) draw {
	if repeats {
		return draw{sample, epoch, position, repeatStream ^ rank}
	}
	return draw{sample, epoch, sample, 0}
}

// rand is the random numbers of the transforms under a seed.
func (d *draw) rand(seed uint64) random.Rand { return random.NewRand(seed^d.stream, d.epoch, d.number) }

// Streams of random numbers that differ from those of samples.
const (
	repeatStream     = 0x726570656174 // "repeat"
	mixUpStream      = 0x6d69786564   // "mixed"
	substituteStream = 0x7375627374   // "subst"
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

// State is the progress in an epoch: enough to resume with exactly the samples that are left, with
// any number of workers and ranks and any batch size. Keep it as JSON beside the model's weights: write
// both to other files, and rename those.
//
// The zero State is the beginning of epoch 0, State{Epoch: e} that of epoch e; from the end of an epoch
// nothing is left. All ranks must resume from the same State: that of the last step that all have
// finished.
type State struct {
	Epoch int `json:"epoch"`
	// Position is the number of the epoch's samples that all ranks together have taken.
	Position int    `json:"position"`
	Seed     uint64 `json:"seed"`
	// Order is everything else that determines the epoch's order.
	Order string `json:"order"`
}

// ErrState is in the chain of the error for a State of another order than this Loader's: the number of
// samples, the split, the order and the seed are compared. Keys and transforms are not.
var ErrState = errors.New("the state belongs to another order")

// State is the State of an epoch after b, which may be over.
func (l *Loader) State(epoch int, b *Batch) State { return l.StateAt(epoch, b.End) }

// StateAt is the State of an epoch at a position that was a Batch's End.
func (l *Loader) StateAt(epoch, position int) State {
	return State{Epoch: epoch, Position: position, Seed: l.config.Seed, Order: l.orderName()}
}

// Left is the number of batches that Resume yields.
func (l *Loader) Left(s State) int { return l.rankBatches(s.Position).Batches() }

// CheckState returns the error that Resume would: it has ErrState in its chain.
func (l *Loader) CheckState(s State) error {
	switch {
	case s.Epoch >= 0 && s == State{Epoch: s.Epoch}:
		return nil
	case s.Seed != l.config.Seed:
		return fmt.Errorf("%w: its seed is %d, the loader's is %d", ErrState, s.Seed, l.config.Seed)
	case s.Order != l.orderName():
		return fmt.Errorf("%w: its order is %q, the loader's is %q", ErrState, s.Order, l.orderName())
	case s.Epoch < 0:
		return fmt.Errorf("%w: epoch %d", ErrState, s.Epoch)
	case s.Position < 0 || s.Position > l.plan.Len():
		return fmt.Errorf("%w: position %d of %d", ErrState, s.Position, l.plan.Len())
	}
	return nil
}

// orderName identifies the order, apart from the seed.
func (l *Loader) orderName() string { return l.plan.String() + "; " + l.samples.String() + l.parts }
