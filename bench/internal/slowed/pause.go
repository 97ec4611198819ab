package slowed

import (
	"sync/atomic"
	"time"
)

// least is the shortest sleep. Sleepers wake up some 0.1 ms late, so shorter pauses are saved up.
const least = time.Millisecond

// Pause makes its callers sleep for a given time in the mean. It is safe for concurrent use. A nil
// Pause doesn't wait.
type Pause struct {
	each time.Duration
	done <-chan struct{} // ends all waiting
	owed atomic.Int64    // nanoseconds that nobody has slept yet; negative if sleepers woke up late
}

// NewPause returns a Pause of each a call, nil if that is 0. Waiting ends early when done is closed.
func NewPause(each time.Duration, done <-chan struct{}) *Pause {
	if each <= 0 {
		return nil
	}
	return &Pause{each: each, done: done}
}

// Wait waits for n calls' time and returns how long it really took.
func (p *Pause) Wait(n int) time.Duration {
	if p == nil || p.owed.Add(int64(n)*int64(p.each)) < int64(least) {
		return 0
	}
	owed := time.Duration(p.owed.Swap(0))
	if owed <= 0 { // another caller sleeps for it
		p.owed.Add(int64(owed))
		return 0
	}
	slept := sleep(owed, p.done)
	p.owed.Add(int64(owed - slept))
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
