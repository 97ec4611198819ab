// Package lifetime lets datasets be closed while they are used: whoever uses the memory enters a
// gate, and Close waits until all have left. [Call] leaves a function behind that waits for a disk or a network
// that no longer answers.
package lifetime

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
)

const (
	// counters keep workers that read different samples out of each other's cache lines.
	counters = 8
	// isClosed is added to each counter by Close; fewer than that many are ever inside.
	isClosed = -1 << 40
)

// Gate is the life of one open dataset, between Open and Close. It is safe for concurrent use.
// Enter and Leave are an atomic addition each.
type Gate struct {
	path     string
	free     func() error
	open     *forgotten.Open
	counters [counters]counter

	// users are the dataset itself, until Close, and the leases. The last one frees the memory.
	users atomic.Int64
	// lent says that memory was lent without a lease: then only Close may free it.
	lent *atomic.Bool

	closing sync.Mutex
	inside  sync.WaitGroup // counters that are not drained
}

type counter struct {
	inside  atomic.Int64 // how many are inside, plus isClosed after Close
	drained atomic.Bool  // the last one has left after Close
	_       [48]byte     // of the cache line
}

// Open opens the gate of the dataset at path. free, which may be nil, frees its memory; it must not
// refer to the gate or what the gate is a part of. A dataset that nobody has any more is freed too,
// unless it has lent memory without a lease.
func (g *Gate) Open(path string, free func() error) {
	g.path, g.free, g.lent = path, free, new(atomic.Bool)
	g.users.Store(1)
	lent := g.lent
	g.open = forgotten.Track(g, "dataset "+path, func() {
		if free != nil && !lent.Load() {
			_ = free() // there is nobody to tell
		}
	})
}

// closed is the error after Close.
func (g *Gate) closed() error { return fmt.Errorf("%s: %w", g.path, formats.ErrClosed) }

// Check returns ErrClosed after Close. It is for what needs no memory of the dataset.
func (g *Gate) Check() error {
	if g.counters[0].inside.Load() < 0 {
		return g.closed()
	}
	return nil
}

// Enter keeps the dataset's memory until Leave is called with the same i, usually the index of a
// sample. After Close it returns ErrClosed.
func (g *Gate) Enter(i int) error {
	if c := g.counter(i); c.inside.Add(1) < 0 {
		g.Leave(i)
		return g.closed()
	}
	return nil
}

// Leave ends Enter.
func (g *Gate) Leave(i int) {
	c := g.counter(i)
	if c.inside.Add(-1) == isClosed {
		c.drain(g)
	}
}

func (g *Gate) counter(i int) *counter { return &g.counters[uint(i)%counters] }

// drain records that nobody is inside after Close. Later some may knock and leave again.
func (c *counter) drain(g *Gate) {
	if c.drained.CompareAndSwap(false, true) {
		g.inside.Done()
	}
}

// Lend is called, between Enter and Leave, before memory is lent that stays valid until Close.
func (g *Gate) Lend() {
	if g.users.Load() == 1 && !g.lent.Load() {
		g.lent.Store(true)
	}
}

// Lease implements formats.Viewer.
func (g *Gate) Lease() (release func(), err error) {
	if err := g.Enter(0); err != nil {
		return nil, err
	}
	g.users.Add(1)
	g.Leave(0)
	var once sync.Once
	return func() { once.Do(func() { _ = g.leave() }) }, nil // reading has nothing to lose
}

// leave frees the memory if the last user leaves.
func (g *Gate) leave() error {
	if g.users.Add(-1) > 0 || g.free == nil {
		return nil
	}
	return g.free()
}

// Close closes the gate, waits until all have left, and frees the memory if nobody has a lease. A
// second Close waits for the first and returns nil.
func (g *Gate) Close() error {
	g.closing.Lock()
	defer g.closing.Unlock()
	if g.Check() != nil {
		return nil
	}
	g.open.Done()
	g.inside.Add(counters)
	for i := range g.counters {
		if c := &g.counters[i]; c.inside.Add(isClosed) == isClosed {
			c.drain(g)
		}
	}
	g.inside.Wait()
	return g.leave()
}
