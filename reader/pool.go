package reader

import (
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/codec"
)

// acquire takes a worker from the pool, or makes one.
func (l *Loader) acquire() *worker {
	guard.Renew()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		w := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return w
	}
	w := &worker{loader: l, decoder: codec.NewDecoder()}
	w.now = l.now
	l.workers = append(l.workers, w)
	return w
}

func (l *Loader) release(w *worker) {
	w.stopBy(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, w)
}

// acquireBatch takes a batch with its buffers from the pool, or makes one.
func (l *Loader) acquireBatch() *Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.batches)
	if n == 0 {
		return &Batch{loader: l}
	}
	b := l.batches[n-1]
	l.batches = l.batches[:n-1]
	return b
}

func (l *Loader) releaseBatch(b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches = append(l.batches, b)
}
