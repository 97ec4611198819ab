// Package parallel distributes independent work over goroutines.
package parallel

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/internal/guard"
)

// Each calls a worker's function once for every index below n, in no particular order, on workers
// goroutines (the number of cores if it is below 1), and waits for them. start returns a
// worker's function and a function that frees the worker. The first error, or panic of the
// function, ends the run.
func Each(ctx context.Context, n, workers int, start func() (do func(i int) error, end func(), err error)) error {
	if workers < 1 {
		workers = Cores()
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			do, end, err := start()
			if err != nil {
				return err
			}
			defer end()
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return nil
				}
				if err := guard.Do(func() error { return do(i) }); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}
