// Package parallel distributes independent work over goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

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

// ProgressInterval is the time between two reports of progress.
const ProgressInterval = 100 * time.Millisecond

// Counter counts what goroutines have done, and reports it about every 100 ms.
// The zero value is ready, and shows nothing.
type Counter struct {
	// Show gets the number so far, in one call at a time. nil shows nothing.
	Show func(done int)
	done atomic.Int64
	mu   sync.Mutex
	last time.Time
}

// Add adds n. It calls Show if the last call, or the first Add, was 100 ms ago, and no other goroutine
// is calling it.
func (c *Counter) Add(n int) {
	c.done.Add(int64(n))
	if c.Show == nil || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	now := time.Now()
	if c.last.IsZero() {
		c.last = now
	}
	if now.Sub(c.last) >= ProgressInterval {
		c.last = now
		c.Show(int(c.done.Load()))
	}
}

// End calls Show with the final number. Nothing may be added meanwhile.
func (c *Counter) End() {
	if c.Show != nil {
		c.Show(int(c.done.Load()))
	}
}

// cores is what GOMAXPROCS was when the program started; it follows the cgroup's limit.
var cores = runtime.GOMAXPROCS(0)

// Cores is the number of cores that the program may use, whatever RaiseForC set GOMAXPROCS to.
func Cores() int { return cores }

// RaiseForC raises GOMAXPROCS above the number of cores. Images are decoded in C, and a goroutine
// that returns from C waits until fewer than GOMAXPROCS goroutines run, while its core is idle: with
// GOMAXPROCS equal to the number of cores, loading took a third longer. It is for main
// functions: a package must not change a setting of the program.
func RaiseForC() { runtime.GOMAXPROCS(4 * cores) }
