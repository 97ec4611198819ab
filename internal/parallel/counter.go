package parallel

import (
	"sync"
	"sync/atomic"
	"time"
)

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
