package parallel

import (
	"context"
	"time"
)

// grace is how long Leave waits for readers after the context has ended.
const grace = time.Second

// Leave returns what wait returns. Once ctx has ended it waits a second more, and then returns the context's cause and leaves
// behind what is waited for: a read from a disk or a network that hangs never ends. What is left behind must use nothing
// that the caller frees or changes.
func Leave(ctx context.Context, wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return context.Cause(ctx)
	}
}
