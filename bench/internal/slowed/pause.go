package slowed

import (
	"sync/atomic"
	"time"
)

// shortest is the shortest sleep. Sleepers wake up some 0.1 ms late, so shorter pauses are saved up.
const shortest = time.Millisecond

// Pause makes its callers sleep for a given time in the mean. It is safe for concurrent use. A nil
// Pause doesn't wait.
type Pause struct {
	each time.Duration
	owed atomic.Int64 // nanoseconds that nobody has slept yet; negative if sleepers woke up late
}

// NewPause returns a Pause of each a call, nil if that is 0.
func NewPause(each time.Duration) *Pause {
	if each <= 0 {
		return nil
	}
	return &Pause{each: each}
}

// Wait waits for n calls' time, at most until done is closed, and returns how long it really took.
func (p *Pause) Wait(done <-chan struct{}, n int) time.Duration {
	if p == nil {
		return 0
	}
	due := time.Duration(n) * p.each
	least := due / 2 // so that no call of a long pause is free
	if due < shortest {
		if p.owed.Add(int64(due)) < int64(shortest) {
			return 0
		}
		due, least = 0, 0
	}
	if due += time.Duration(p.owed.Swap(0)); due < least {
		p.owed.Add(int64(due - least))
		due = least
	}
	if due <= 0 { // another caller sleeps for it
		p.owed.Add(int64(due))
		return 0
	}
	slept := sleep(due, done)
	p.owed.Add(int64(due - slept))
	return slept
}

// sleep waits for d, or until done is closed, and returns how long it took.
func sleep(d time.Duration, done <-chan struct{}) time.Duration {
	start := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
	return time.Since(start)
}
