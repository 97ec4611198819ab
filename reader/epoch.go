package reader

import (
	"context"
	"errors"
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
