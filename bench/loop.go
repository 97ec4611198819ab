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
	// loopFor is how long the loop alone is measured, if nobody asks for the ladder.
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
	if _, err := replay(ctx, batches, s.consumer, 1); err != nil { // a trainer may compile
		return err
	}
	var total Round
	for k := 0; k < 2 || total.Seconds < loopFor.Seconds(); k++ {
		m, err := replay(ctx, batches[k%len(batches):], s.consumer, 1)
		if err != nil {
			return err
		}
		total.add(&m)
	}
	s.loop.take(&total)
	return nil
}

// take sets what m tells of the loop alone.
func (a *aboutLoop) take(m *Round) {
	us := 1e6 / float64(max(m.Images, 1))
	a.step, a.transfer = us*m.Stages.Step, us*m.TransferSeconds
	a.stepCPU = min(us*m.CPUSeconds, a.step)
}

// add adds the times and images of other epochs.
func (r *Round) add(o *Round) {
	r.Images += o.Images
	r.Seconds += o.Seconds
	r.CPUSeconds += o.CPUSeconds
	r.TransferSeconds += o.TransferSeconds
	r.Stages.Step += o.Stages.Step
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

// replay gives n batches from memory to the consumer, one after another.
func replay(ctx context.Context, batches []*reader.Batch, c consumer, n int) (Round, error) {
	m := Round{Epochs: 1}
	cpu, moved, start := cputime.Own(), transferred(c), time.Now()
	for k := range n {
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		batch := batches[k%len(batches)]
		if err := c.take(ctx, batch, time.Now()); err != nil {
			return m, err
		}
		m.Images += int64(batch.N)
	}
	m.Seconds = time.Since(start).Seconds()
	m.CPUSeconds = (cputime.Own() - cpu).Seconds()
	m.TransferSeconds = (transferred(c) - moved).Seconds()
	m.Stages.Step = m.Seconds - m.TransferSeconds
	m.Loaded = m.Images
	return m, nil
}
