package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// defaultMemory is the memory of a Sorter that was made with 0.
const defaultMemory = 256 << 20

const (
	// A block of a run is this large, unless one record is larger or the memory is small: as many runs as the memory has
	// blocks are merged within the memory, which is 200 GiB of records by default.
	minBlock, maxBlock = 4 << 10, 1 << 20
	blocks             = 1 << 10
	maxRecord          = 1 << 30
)

// Sorter sorts records by their keys. It belongs to one goroutine. Its memory is outside of Go's heap:
// garbage of others does not grow because a Sorter is large.
type Sorter struct {
	room  int    // of the buffer, in bytes
	block int    // bytes of a block
	buf   buffer // the records since the last run
	file         // the records before
	done  bool   // Each was called
	err   error  // of a call before: the records are not complete
}

// New returns an empty Sorter that takes about memory bytes, 0 means 256 MiB, and more only for records
// that do not fit. Beyond that it writes a temporary file into the folder dir, "" means os.TempDir(). It has
// no name any more when it is written, so that a killed process leaves nothing behind.
func New(dir string, memory int64) *Sorter {
	if memory <= 0 {
		memory = defaultMemory
	}
	return &Sorter{room: int(memory - memory/blocks), block: int(min(max(memory/blocks, minBlock), maxBlock)), file: file{dir: dir}}
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
	if size := max(s.room, n); size > s.buf.capacity() {
		return errors.Join(s.buf.free(), s.buf.alloc(size))
	}
	return nil
}

// spill writes the buffer's records as a run and empties the buffer.
func (s *Sorter) spill() (err error) {
	if s.buf.len() == 0 {
		return nil
	}
	if s.f == nil {
		if s.f, err = Temporary(s.dir); err != nil {
			return err
		}
	}
	w := &runWriter{file: &s.file, limit: s.block, block: make([]byte, blockHead, s.block)}
	if err := s.buf.each(w.add); err != nil {
		return err
	}
	s.buf.reset()
	if err := w.flush(); err != nil {
		return err
	}
	s.ends = append(s.ends, s.size)
	return nil
}

// Each calls yield for each record in the bytewise order of the keys; records with the same key come in the
// order of Add. The slices are valid until yield returns. An error of yield ends the loop and is returned.
// It may be called again.
func (s *Sorter) Each(yield func(key, value []byte) error) error {
	if s.done = true; s.err != nil {
		return s.err
	}
	if len(s.ends) == 0 {
		return s.buf.each(yield)
	}
	// The memory becomes free for whoever takes the records.
	if err := errors.Join(s.spill(), s.buf.free()); err != nil {
		return err
	}
	return s.merge(yield)
}

// Close frees the memory and the temporary file.
func (s *Sorter) Close() error {
	err := s.buf.free()
	if s.f != nil {
		err = errors.Join(err, s.f.Close())
	}
	s.f, s.done, s.err = nil, true, errors.New("extsort: it is closed")
	return err
}
