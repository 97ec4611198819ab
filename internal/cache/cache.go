package cache

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
)

// Cache is one process's access to a cache. All methods but Close are safe for concurrent
// use.
type Cache struct {
	path     string
	file     *os.File
	fd       int    // the file's
	readable []byte // the file, read-only: writing into a sample faults
	writable []byte // the same file, writable
	head     *header
	slots    []slot
	end      uint64 // of the arena

	broken atomic.Bool   // see Abandon
	seen   atomic.Uint64 // the guard.Mark up to which the memory was found usable

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
	// Of the whole machine.
	Limit   int64  // maximum bytes of all samples
	Used    int64  // bytes of all samples
	Samples int    // number of samples
	Full    Reason // why a sample was refused; NotFull if none was

	// Of this Cache since Open.
	Hits, Misses int64 // of Get
	Refused      int64 // by Put, because the cache is full
}

// Open attaches to the cache that c names, or creates it. It fails if the cache is open
// with another number of samples or another limit, if the file belongs to another user, and if the
// file system has no space for the index.
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
	k := &Cache{path: c.path(), file: f, fd: int(f.Fd()), freeMemory: freeMemory}
	if err := k.mapFile(c); err != nil {
		_ = k.Close()
		return nil, fmt.Errorf("open cache %s: %w", c.path(), err)
	}
	return k, nil
}

// mapFile maps the file twice and checks that it is the wanted cache.
func (c *Cache) mapFile(want Config) error {
	st, err := c.file.Stat()
	if err != nil {
		return err
	}
	if st.Size() < headerSize {
		return want.checkHeader(&header{}, st.Size())
	}
	if c.readable, err = guard.Map(c.file, c.path, int(st.Size()), false); err != nil {
		return err
	}
	if c.writable, err = guard.Map(c.file, c.path, int(st.Size()), true); err != nil {
		return err
	}
	c.head = (*header)(unsafe.Pointer(&c.writable[0]))
	err = guard.Read(c.writable[:headerSize], func() error { return want.checkHeader(c.head, st.Size()) })
	if err != nil {
		return err
	}
	c.slots = unsafe.Slice((*slot)(unsafe.Pointer(&c.writable[headerSize])), want.Samples)
	c.end = uint64(IndexSize(want.Samples)) + c.head.limit
	return nil
}

// Get returns sample i if it is cached. Its bytes must not be written and are valid until Close.
func (c *Cache) Get(i int) (data []byte, ok bool) {
	if uint(i) < uint(len(c.slots)) && !c.failed() {
		s := &c.slots[i]
		if w := s.word.Load(); w&stateMask == ready {
			if data, ok := c.record(s, w); ok {
				c.hits.Add(1)
				return data, true
			}
		}
	}
	c.misses.Add(1)
	return nil, false
}

// record returns the sample of a ready slot. ok is false if the slot is damaged.
func (c *Cache) record(s *slot, word uint64) (data []byte, ok bool) {
	from, size := word&^stateMask, s.size.Load()
	if !c.holds(from, size) {
		c.broken.Store(true)
		return nil, false
	}
	return c.readable[from : from+size : from+size], true
}

// holds reports whether a record of that size at from lies inside the arena.
func (c *Cache) holds(from, size uint64) bool {
	return from >= uint64(IndexSize(len(c.slots))) && from <= c.end && size <= c.end-from
}

// Abandon ends the use of the cache in this process if file, which could not be read or written, is
// the cache's: from now on Get finds nothing and Put stores nothing. It reports whether it did.
func (c *Cache) Abandon(file string) bool {
	if file != c.path {
		return false
	}
	if !c.broken.Swap(true) {
		guard.Forget(c.readable)
		guard.Forget(c.writable)
	}
	return true
}

// Shortened returns a *guard.ReadError if the file became shorter. The system shows the rest of the
// page in which the file now ends as zeros, without a signal. So call it after using a record.
func (c *Cache) Shortened() error {
	size, err := sizeOf(c.fd)
	if err != nil {
		return fmt.Errorf("cache %s: %w", c.path, err)
	}
	if size >= int64(len(c.readable)) {
		return nil
	}
	return &guard.ReadError{File: c.path, From: size, To: int64(len(c.readable))}
}

// failed reports whether the cache's file was ever unusable since Open.
func (c *Cache) failed() bool {
	if c.broken.Load() {
		return true
	}
	now := uint64(guard.Now())
	if now == c.seen.Load() {
		return false
	}
	if guard.Failed(c.readable) || guard.Failed(c.writable) {
		c.broken.Store(true)
		return true
	}
	c.seen.Store(now)
	return false
}

// Put caches sample i of size bytes: fill writes all of dst, which may contain anything and must
// not be used afterwards. The result is as Get's. If the sample is cached already, Put returns it
// without calling fill. ok is false without an error if the cache is full, or if another goroutine
// or process is filling this sample: continue without the cache. An error is fill's, unchanged; the
// sample may be put again.
func (c *Cache) Put(i, size int, fill func(dst []byte) error) (data []byte, ok bool, err error) {
	if i < 0 || i >= len(c.slots) || size < 0 {
		return nil, false, fmt.Errorf("cache sample %d of %d bytes: the cache has %d samples", i, size, len(c.slots))
	}
	if c.failed() {
		return nil, false, nil
	}
	s := &c.slots[i]
	was := s.word.Load()
	switch was & stateMask {
	case ready:
		data, ok = c.record(s, was)
		return data, ok, nil
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

// fill fills the record at from of a claimed slot, and makes the slot ready or, on an error, vacant.
func (c *Cache) fill(s *slot, from uint64, size int, fill func(dst []byte) error) ([]byte, bool, error) {
	to := from + uint64(size)
	if !c.holds(from, uint64(size)) {
		c.broken.Store(true)
		return nil, false, nil
	}
	dst := c.writable[from:to:to]
	if err := fill(dst); err != nil || c.failed() {
		s.word.Store(from | vacant)
		return nil, false, err
	}
	s.size.Store(uint64(size))
	s.word.Store(from | ready)
	c.head.held.Add(1)
	forget(dst) // it is read through the other mapping
	return c.readable[from:to:to], true, nil
}

// Stats may be asked at any time before Close.
func (c *Cache) Stats() Stats {
	st := Stats{Hits: c.hits.Load(), Misses: c.misses.Load(), Refused: c.refused.Load()}
	err := guard.Read(c.writable[:headerSize], func() error {
		st.Limit, st.Used = int64(c.head.limit), int64(c.head.cursor.Load())-IndexSize(len(c.slots))
		st.Samples, st.Full = int(c.head.held.Load()), Reason(c.head.full.Load())
		return nil
	})
	if err != nil || c.failed() {
		st.Limit, st.Used, st.Samples, st.Full = 0, 0, 0, Unusable
	}
	return st
}

// Close detaches; what Get and Put returned must no longer be used. The last Cache to close
// removes the file. No other method may be running. Closing twice does nothing.
func (c *Cache) Close() error {
	if c.file == nil {
		return nil
	}
	readable, writable, f := c.readable, c.writable, c.file
	c.readable, c.writable, c.head, c.slots, c.file = nil, nil, nil, nil, nil
	err := errors.Join(guard.Unmap(readable), guard.Unmap(writable))
	if e := release(f, c.path); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("close cache %s: %w", c.path, err)
	}
	return nil
}
