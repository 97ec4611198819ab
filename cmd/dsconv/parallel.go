package main

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// parallel calls a worker's function for every index below n, each once, in no order, on
// workers goroutines (the number of cores if it is below 1). start makes a worker: its
// function and what frees it. The first error ends the run.
func parallel(ctx context.Context, n, workers int, start func() (do func(i int) error, end func())) error {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			do, end := start()
			defer end()
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return nil
				}
				if err := do(i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}
