package cache

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Cache is one process's access to a cache. All methods but Close are safe for concurrent
// use.
type Cache struct {
	path  string
	file  *os.File
	view  []byte // the file, read-only: who writes into a sample faults
	room  []byte // the same, to be written
	head  *header
	slots []slot
	end   uint64 // of the arena

	growing    sync.Mutex
	freeMemory func() (int64, error)

	_       [64]byte // the counters change with every sample, what is above never
	hits    atomic.Int64
	_       [56]byte
	misses  atomic.Int64
	refused atomic.Int64
}

// Stats is the state of a cache.
type Stats struct {
	// Of the whole node.
	Limit   int64  // bytes that samples may take
	Used    int64  // bytes that they take
	Samples int    // that are there
	Full    Reason // why a sample was refused; NotFull if none was

	// Of this Cache since Open.
	Hits, Misses int64 // of Get
	Refused      int64 // by Put, because the cache is full
}

// Open attaches to the cache that c names, or makes it. It is an error if the cache is open
// with another number of samples or another limit, if the file is another user's, and if the
// file system has no room for the index.
func Open(c Config) (*Cache, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	removeStale(c)
	f, err := attach(c)
	if err != nil {
		return nil, fmt.Errorf("open cache %s: %w", c.path(), err)
	}
	k := &Cache{path: c.path(), file: f, freeMemory: freeMemory}
	if err := k.mapFile(c); err != nil {
		_ = k.Close()
		return nil, fmt.Errorf("open cache %s: %w", c.path(), err)
	}
	return k, nil
}

// mapFile maps the file twice and checks that it is the one that is wanted.
func (c *Cache) mapFile(want Config) error {
	st, err := c.file.Stat()
	if err != nil {
		return err
	}
	if st.Size() < headerSize {
		return want.checkHeader(&header{}, st.Size())
	}
	if c.view, err = mapShared(c.file, int(st.Size()), false); err != nil {
		return err
	}
	if c.room, err = mapShared(c.file, int(st.Size()), true); err != nil {
		return err
	}
	c.head = (*header)(unsafe.Pointer(&c.room[0]))
	if err := want.checkHeader(c.head, st.Size()); err != nil {
		return err
	}
	c.slots = unsafe.Slice((*slot)(unsafe.Pointer(&c.room[headerSize])), want.Samples)
	c.end = uint64(IndexSize(want.Samples)) + c.head.limit
	return nil
}

// Get is sample i if it is there. Its bytes must not be written and are valid until Close.
func (c *Cache) Get(i int) (data []byte, ok bool) {
	if uint(i) < uint(len(c.slots)) {
		s := &c.slots[i]
		if w := s.word.Load(); w&stateMask == ready {
			c.hits.Add(1)
			return c.record(s, w), true
		}
	}
	c.misses.Add(1)
	return nil, false
}

// record is the sample of a slot that is ready.
func (c *Cache) record(s *slot, word uint64) []byte {
	from := word &^ stateMask
	to := from + s.size.Load()
	return c.view[from:to:to]
}

// Put puts sample i there, of size bytes: fill writes all of dst, which is not to be kept
// and may hold anything. The result is as Get's. If the sample is there already it is that,
// and fill is not called. ok is false without an error if the cache is full, or if somebody
// else, in this process or another, is about to fill this sample: go on without the cache.
// An error is fill's, as it is; the sample may be put again.
func (c *Cache) Put(i, size int, fill func(dst []byte) error) (data []byte, ok bool, err error) {
	if i < 0 || i >= len(c.slots) || size < 0 {
		return nil, false, fmt.Errorf("sample %d of %d bytes: the cache is for %d samples", i, size, len(c.slots))
	}
	s := &c.slots[i]
	was := s.word.Load()
	switch was & stateMask {
	case ready:
		return c.record(s, was), true, nil
	case claimed:
		return nil, false, nil
	case empty:
		if !c.mayFit(size) {
			c.refused.Add(1)
			return nil, false, nil
		}
	case vacant:
		if uint64(size) > s.size.Load() {
			return nil, false, nil
		}
	}
	from := was &^ stateMask
	if !s.word.CompareAndSwap(was, from|claimed) {
		return nil, false, nil
	}
	if was == empty {
		if from, ok = c.reserve(size); !ok {
			s.word.Store(empty)
			c.refused.Add(1)
			return nil, false, nil
		}
		s.size.Store(uint64(size))
	}
	return c.fill(s, from, size, fill)
}

// fill makes a claimed slot, whose record begins at from, ready or vacant.
func (c *Cache) fill(s *slot, from uint64, size int, fill func(dst []byte) error) ([]byte, bool, error) {
	to := from + uint64(size)
	dst := c.room[from:to:to]
	if err := fill(dst); err != nil {
		s.word.Store(from | vacant)
		return nil, false, err
	}
	s.size.Store(uint64(size))
	s.word.Store(from | ready)
	c.head.held.Add(1)
	forget(dst) // it is read through the other mapping
	return c.view[from:to:to], true, nil
}

// Stats may be asked at any time before Close.
func (c *Cache) Stats() Stats {
	return Stats{
		Limit:   int64(c.head.limit),
		Used:    int64(c.head.cursor.Load()) - IndexSize(len(c.slots)),
		Samples: int(c.head.held.Load()),
		Full:    Reason(c.head.full.Load()),
		Hits:    c.hits.Load(),
		Misses:  c.misses.Load(),
		Refused: c.refused.Load(),
	}
}

// Close detaches; what Get and Put gave must no longer be used. The last Cache to close
// removes the file. No other method may be running. Closing twice does nothing.
func (c *Cache) Close() error {
	if c.file == nil {
		return nil
	}
	view, room, f := c.view, c.room, c.file
	c.view, c.room, c.head, c.slots, c.file = nil, nil, nil, nil, nil
	err := unmap(view, room)
	if e := release(f, c.path); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("close cache %s: %w", c.path, err)
	}
	return nil
}
