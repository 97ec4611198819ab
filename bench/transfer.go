package bench

import (
	"context"
	"time"

	"github.com/dsconv/dsconv/bench/internal/slowed"
	"github.com/dsconv/dsconv/reader"
)

// transferring waits for the images of each batch before another consumer takes it: a stand-in for copies to a
// device that nothing overlaps.
type transferring struct {
	consumer
	pause *slowed.Pause
	spent time.Duration
}

func (t *transferring) take(ctx context.Context, b *reader.Batch, _ time.Time) error {
	t.spent += t.pause.Wait(ctx.Done(), b.N)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.consumer.take(ctx, b, time.Now())
}

// transferred is the time that c spent on transfers so far.
func transferred(c consumer) time.Duration {
	if t, ok := c.(*transferring); ok {
		return t.spent
	}
	return 0
}
