package trainer

import (
	"context"
	"iter"
	"sync"

	"github.com/dsconv/dsconv/reader"
)

// ahead gives what stage makes of the batches. It stays one ahead: while the loop's body runs, a goroutine takes the
// next batch and stages it. The goroutine ends with the loop, which waits for it; what was staged in vain is dropped.
func ahead[T any](ctx context.Context, batches func(context.Context) iter.Seq2[*reader.Batch, error],
	stage func(*reader.Batch) (T, error), drop func(T),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		staged := make(chan T)
		var err error // of the goroutine, once it has ended
		var working sync.WaitGroup
		working.Go(func() {
			defer close(staged)
			defer caught(&err)
			err = send(ctx, batches(ctx), stage, drop, staged)
		})
		defer func() {
			cancel()
			for v := range staged {
				drop(v)
			}
			working.Wait()
		}()
		for v := range staged {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// send stages the batches and sends the results until someone stops it.
func send[T any](ctx context.Context, batches iter.Seq2[*reader.Batch, error], stage func(*reader.Batch) (T, error), drop func(T), to chan<- T) error {
	for b, err := range batches {
		if err != nil {
			return err
		}
		v, err := stage(b)
		if err != nil {
			return err
		}
		if ctx.Err() == nil { // nothing that is staged after the end goes to a body that waits
			select {
			case to <- v:
				continue
			case <-ctx.Done():
			}
		}
		drop(v)
		return ctx.Err()
	}
	return nil
}
