package lifetime

import (
	"context"
	"time"

	"github.com/dsconv/dsconv/internal/guard"
)

// grace is how long a call may go on after its context ended.
const grace = 500 * time.Millisecond

// Call returns what f returns. If ctx ends and f does not return soon afterwards, Call returns the context's error and
// leaves f behind: no program can end a system call on a mount that is dead. late, if it is not nil, gets what f returns
// then, to close it.
func Call[T any](ctx context.Context, f func() (T, error), late func(T)) (T, error) {
	if ctx.Done() == nil {
		return f()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = guard.Do(func() (err error) {
			r.value, err = f()
			return err
		})
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(grace):
	}
	go func() {
		if r := <-done; r.err == nil && late != nil {
			late(r.value)
		}
	}()
	var none T
	return none, context.Cause(ctx)
}

// Wait is Call for a function that only returns an error. What is left behind must use nothing that the caller frees or changes.
func Wait(ctx context.Context, f func() error) error {
	_, err := Call(ctx, func() (struct{}, error) { return struct{}{}, f() }, nil)
	return err
}
