package slowed

import (
	"sync"
	"time"
)

// credit is how much of the time in which nobody read may be caught up: it makes up for late sleepers.
const credit = 5 * time.Millisecond

// bandwidth is a disk that gives so many bytes a second to all its readers together. It is safe for
// concurrent use. A nil bandwidth has no limit.
type bandwidth struct {
	perByte float64 // nanoseconds

	mu   sync.Mutex
	free time.Time // when the bytes that were asked for so far have come
}

// newBandwidth returns a limit of bytes a second, nil for 0.
func newBandwidth(perSecond int64) *bandwidth {
	if perSecond <= 0 {
		return nil
	}
	return &bandwidth{perByte: float64(time.Second) / float64(perSecond)}
}

// wait waits until n more bytes have come, or until done is closed.
func (b *bandwidth) wait(done <-chan struct{}, n int64) {
	if b == nil {
		return
	}
	if left := time.Until(b.take(n, time.Now())); left > 0 {
		sleep(left, done)
	}
}

// take returns when n bytes that are asked for now have come.
func (b *bandwidth) take(n int64, now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if earliest := now.Add(-credit); b.free.Before(earliest) {
		b.free = earliest
	}
	b.free = b.free.Add(time.Duration(float64(n) * b.perByte))
	return b.free
}
