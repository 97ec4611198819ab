package reader

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/dsconv/dsconv/reader/random"
)

// Epoch ranges over this rank's batches of an epoch, in order. A batch is valid until the
// loop's body ends, or until it is released if it is kept. An error comes with a nil batch and
// ends the range: that of ctx, or of a sample, with its key. The batches before it still come.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.from(ctx, epoch, 0)
}

// from is Epoch from a position on.
func (l *Loader) from(ctx context.Context, epoch, position int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		r, err := l.start(epoch, position, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Stop()
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// draw is a sample, by its index in the split, and the random numbers of its transforms.
type draw struct {
	sample int
	rand   random.Rand
}

// draw is the draw at a position; positions after the last wrap around.
func (r *Run) draw(position int) draw {
	position %= r.order.Len()
	sample := r.order.At(position)
	return r.loader.draw(sample, position, r.epoch, r.repeats, r.rankKey)
}

// draw seeds by the sample, so that its pixels depend on nothing else. Samples that may come more
// than once in an epoch are seeded by their position.
func (l *Loader) draw(sample, position, epoch int, repeats bool, rank uint64) draw {
	if repeats {
		return draw{sample, random.NewRand(l.config.Seed^repeatStream^rank, epoch, position)}
	}
	return draw{sample, random.NewRand(l.config.Seed, epoch, sample)}
}

// Streams of random numbers that differ from those of samples.
const (
	repeatStream     = 0x726570656174 // "repeat"
	mixUpStream      = 0x6d69786564   // "mixed"
	substituteStream = 0x7375627374   // "subst"
)
