package slowed

import (
	"sync"
	"time"
)

// credit is how much of the time in which nobody read may be caught up: it makes up for late sleepers.
const credit = 5 * time.Millisecond

// Bandwidth is a disk that gives so many bytes a second to all its readers together. It is safe for
// concurrent use. A nil Bandwidth has no limit.
type Bandwidth struct {
	perByte float64 // nanoseconds
	done    <-chan struct{}

	mu   sync.Mutex
	free time.Time // when the bytes that were asked for so far have come
}

// NewBandwidth returns a limit of bytes a second, nil for 0. Waiting ends early when done is closed.
func NewBandwidth(perSecond int64, done <-chan struct{}) *Bandwidth {
	if perSecond <= 0 {
		return nil
	}
	return &Bandwidth{perByte: float64(time.Second) / float64(perSecond), done: done}
}

// Wait waits until n more bytes have come.
func (b *Bandwidth) Wait(n int64) {
	if b == nil {
		return
	}
	if left := time.Until(b.take(n, time.Now())); left > 0 {
		sleep(left, b.done)
	}
}

// take returns when n bytes that are asked for now have come.
func (b *Bandwidth) take(n int64, now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earliest := now.Add(-credit); b.free.Before(earliest) {
		b.free = earliest
	}
	b.free = b.free.Add(time.Duration(float64(n) * b.perByte))
	return b.free
}
