package bench

import (
	"context"
	"time"

	"github.com/dsconv/dsconv/reader"
)

// prompt is the wait below which a batch counts as ready when the consumer asked for it.
const prompt = 50 * time.Microsecond

// paced works on each batch as long as its images take at the rate, like a GPU.
type paced struct {
	rate     float64   // images per second; 0 is no limit
	due, end time.Time // of the last take: when it should have ended, and did
}

// take gets a batch that arrived at ready and returns when a GPU wants the next one; without a rate, at once.
func (p *paced) take(ctx context.Context, b *reader.Batch, ready time.Time) error {
	if p.rate == 0 {
		return nil
	}
	busy := time.Duration(float64(b.N) / p.rate * float64(time.Second))
	p.due = p.start(ready, busy).Add(busy)
	select {
	case <-time.After(time.Until(p.due)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.end = time.Now()
	return nil
}

// start is when a GPU would have begun the batch. If the batch was ready, that is when the
// one before was due, which makes up for a late wake-up, but for a batch at most.
func (p *paced) start(ready time.Time, busy time.Duration) time.Time {
	if ready.Sub(p.end) >= prompt {
		return ready
	}
	if early := ready.Add(-busy); p.due.Before(early) {
		return early
	}
	return p.due
}
