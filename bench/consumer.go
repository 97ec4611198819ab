package bench

import (
	"context"
	"runtime"
	"time"

	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/trainer"
)

// consumer takes the batches of a loader.
type consumer interface {
	// take gets a batch that arrived at ready and returns when it wants the next one.
	take(ctx context.Context, b *reader.Batch, ready time.Time) error
	close() error
}

// newConsumer returns the consumer that o asks for.
func newConsumer(o *Options, l *reader.Loader) (consumer, error) {
	switch {
	case o.Train != "":
		c := trainer.Config{Model: o.Train, Backend: o.Backend, Seed: o.Seed}
		t, err := trainer.New(c, l.ImageShape(), len(l.Classes()))
		return training{t}, err
	case o.Consume != 0:
		return &paced{rate: o.Consume}, nil
	}
	return eager{}, nil
}

// eager wants the next batch at once.
type eager struct{}

func (eager) take(context.Context, *reader.Batch, time.Time) error { return nil }
func (eager) close() error                                         { return nil }

// training is the reference trainer.
type training struct{ *trainer.Trainer }

func (t training) take(_ context.Context, b *reader.Batch, _ time.Time) error {
	_, err := t.Step(b)
	return err
}

func (t training) close() error { return t.Close() }

// paced works on each batch as long as its images take at the rate, like a GPU.
type paced struct {
	rate     float64   // images per second
	due, end time.Time // of the last take: when it should have ended, and did
}

const (
	// spin is how long before its time paced stops sleeping and polls the clock, because
	// sleepers wake late.
	spin = 200 * time.Microsecond
	// prompt is the wait below which a batch counts as ready when the consumer asked for it.
	prompt = 50 * time.Microsecond
)

func (p *paced) take(ctx context.Context, b *reader.Batch, ready time.Time) error {
	busy := time.Duration(float64(b.N) / p.rate * float64(time.Second))
	due := p.start(ready, busy).Add(busy)
	if left := time.Until(due) - spin; left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for time.Now().Before(due) {
		runtime.Gosched()
	}
	p.due, p.end = due, time.Now()
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

func (p *paced) close() error { return nil }
