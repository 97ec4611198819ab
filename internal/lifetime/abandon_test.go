package lifetime

import (
	"context"
	"errors"
	"testing"
)

func TestCall(t *testing.T) {
	failed := errors.New("failed")
	ctx, cancel := context.WithCancel(t.Context())
	for _, ctx := range []context.Context{ctx, context.Background()} {
		if n, err := Call(ctx, func() (int, error) { return 1, failed }, nil); n != 1 || !errors.Is(err, failed) {
			t.Errorf("a call that returns gives %d, %v", n, err)
		}
	}
	hung, late := make(chan struct{}), make(chan int)
	n, err := Call(ctx, func() (int, error) {
		cancel()
		<-hung
		return 2, nil
	}, func(n int) { late <- n })
	if n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a call that hangs gives %d, %v", n, err)
	}
	close(hung)
	if n := <-late; n != 2 {
		t.Errorf("what came late is %d", n)
	}
	ctx, cancel = context.WithCancel(t.Context())
	if n, err := Call(ctx, func() (int, error) { cancel(); return 3, nil }, nil); n != 3 || err != nil {
		t.Errorf("a call that ends with its context gives %d, %v", n, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	if _, err := Call(ctx, func() (int, error) { panic("broken") }, nil); err == nil {
		t.Error("a panic is no error")
	}
}
