package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// defaultMemory is the memory of a Sorter that was made with 0.
const defaultMemory = 256 << 20

const (
	// fanIn is the most runs that are merged at once. Each is an open file.
	fanIn = 64
	// A block of a run is this large, unless one record is larger or the memory is small.
	minBlock, maxBlock = 4 << 10, 1 << 20
	maxRecord          = 1 << 30
)

// Sorter sorts records by their keys. It belongs to one goroutine. Its memory is outside of Go's heap:
// garbage of others does not grow because a Sorter is large.
type Sorter struct {
	dir   string
	size  int    // of the buffer, in bytes
	block int    // bytes of a block
	fanIn int    // the most runs of one merge
	buf   buffer // the records since the last run
	runs  []*run // in the order of Add
	done  bool   // Each was called
	err   error  // of a call before: the records are not complete
}

// New returns an empty Sorter that takes about memory bytes, 0 means 256 MiB, and more only for records
// that do not fit. Beyond that it writes temporary files into the folder dir, "" means os.TempDir(). They have
// no name any more when they are written, so that a killed process leaves nothing behind.
func New(dir string, memory int64) *Sorter {
	if memory <= 0 {
		memory = defaultMemory
	}
	merging := memory / 8
	return &Sorter{
		dir: dir, size: int(memory - merging), fanIn: fanIn,
		block: int(min(max(merging/(fanIn+1), minBlock), maxBlock)),
	}
}

// Add adds a record. It copies key and value. After an error the Sorter can only be closed.
func (s *Sorter) Add(key, value []byte) error {
	if s.done {
		return errors.New("extsort: Add after Each")
	}
	if n := len(key) + len(value); n > maxRecord {
		return fmt.Errorf("extsort: a record of %d bytes: the limit is %d", n, maxRecord)
	}
	if s.err == nil && !s.buf.add(key, value) {
		if s.err = s.makeRoom(recordSize(key, value)); s.err == nil {
			s.buf.add(key, value)
		}
	}
	return s.err
}

// recordSize is the most bytes that a record takes in a buffer.
func recordSize(key, value []byte) int {
	return 2*binary.MaxVarintLen64 + len(key) + len(value) + refSize
}

// makeRoom spills the buffer and makes sure that it is large enough for a record of n bytes.
func (s *Sorter) makeRoom(n int) error {
	if err := s.spill(); err != nil {
		return err
	}
	if size := max(s.size, n); size > s.buf.capacity() {
		return errors.Join(s.buf.free(), s.buf.alloc(size))
	}
	return nil
}

// spill writes the buffer's records as a run and empties the buffer.
func (s *Sorter) spill() error {
	if s.buf.len() == 0 {
		return nil
	}
	w, err := s.newRun(0)
	if err != nil {
		return err
	}
	if err := s.buf.each(w.add); err != nil {
		return errors.Join(err, w.close())
	}
	s.buf.reset()
	if err := s.finish(w); err != nil {
		return err
	}
	return s.mergeFull()
}

// Each calls yield for each record in the bytewise order of the keys; records with the same key come in the
// order of Add. The slices are valid until yield returns. An error of yield ends the loop and is returned.
// Each may be called once.
func (s *Sorter) Each(yield func(key, value []byte) error) error {
	if s.done {
		return errors.New("extsort: a second call of Each")
	}
	if s.done = true; s.err != nil {
		return s.err
	}
	if len(s.runs) == 0 {
		return s.buf.each(yield)
	}
	// The memory becomes free for whoever takes the records.
	if err := errors.Join(s.spill(), s.buf.free()); err != nil {
		return err
	}
	for len(s.runs) > s.fanIn {
		if err := s.mergeLast(min(s.fanIn, len(s.runs)-s.fanIn+1)); err != nil {
			return err
		}
	}
	return merge(s.runs, yield)
}

// Close frees the memory and the temporary files.
func (s *Sorter) Close() error {
	err := s.buf.free()
	for _, r := range s.runs {
		err = errors.Join(err, r.close())
	}
	s.runs, s.done = nil, true
	return err
}
