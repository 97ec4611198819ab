package reader

import (
	"github.com/dsconv/dsconv/internal/guard"
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
	w := &worker{loader: l, decoder: l.held.decoder()}
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
		return &Batch{}
	}
	b := l.batches[n-1]
	l.batches = l.batches[:n-1]
	return b
}

// releaseBatch puts b back into the pool; lent are images that are not the Loader's.
func (l *Loader) releaseBatch(b *Batch, lent bool) {
	if lent {
		b.images = nil
	}
	b.freeDevice()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing.Load() {
		l.batches = append(l.batches, b)
	}
}
