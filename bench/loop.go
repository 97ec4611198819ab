package bench

import (
	"context"
	"time"

	"github.com/dsconv/dsconv/bench/internal/cputime"
	"github.com/dsconv/dsconv/reader"
)

const (
	// copied is how many batches the loop is given again and again.
	copied = 8
	// copiedBytes is how much memory they may take; at least one is copied.
	copiedBytes = 256 << 20
	// loopFor is how long the loop alone is measured.
	loopFor = 300 * time.Millisecond
)

// loopAlone measures the loop on batches in memory, while nothing is loaded.
func (b *bench) loopAlone(ctx context.Context, s *subject) error {
	if b.options.alone() {
		return nil
	}
	batches, err := s.copies(ctx)
	if err != nil {
		return err
	}
	if _, err := replay(ctx, batches[0], s.consumer); err != nil { // a trainer may compile
		return err
	}
	var total replayed
	for k := 0; k < 2 || total.seconds < loopFor.Seconds(); k++ {
		m, err := replay(ctx, batches[k%len(batches)], s.consumer)
		if err != nil {
			return err
		}
		total.images += m.images
		total.seconds += m.seconds
		total.cpu += m.cpu
	}
	us := 1e6 / float64(max(total.images, 1))
	s.loop = aboutLoop{step: us * total.seconds, stepCPU: us * min(total.cpu, total.seconds)}
	return nil
}

// copies are the first batches of an epoch, in memory of their own.
func (s *subject) copies(ctx context.Context) (list []*reader.Batch, err error) {
	var bytes int
	for batch, err := range s.loader.Epoch(ctx, 0) {
		if err != nil {
			return nil, err
		}
		c := batch.Clone()
		if bytes += len(c.ImageBytes()) * c.Views(); len(list) > 0 && bytes > copiedBytes {
			break
		}
		if list = append(list, c); len(list) == copied {
			break
		}
	}
	return list, nil
}

// replayed is what the loop took for batches in memory, in seconds.
type replayed struct {
	images       int
	seconds, cpu float64
}

// replay gives a batch from memory to the consumer.
func replay(ctx context.Context, batch *reader.Batch, c consumer) (m replayed, err error) {
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	cpu, start := cputime.Own(), time.Now()
	err = c.take(ctx, batch, start)
	return replayed{images: batch.N, seconds: time.Since(start).Seconds(), cpu: (cputime.Own() - cpu).Seconds()}, err
}
