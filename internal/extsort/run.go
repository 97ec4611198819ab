package extsort

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/wire"
)

// file is the temporary file of a Sorter: its runs one after another, each of them sorted. A run consists of blocks: the
// payload's length and its checksum, 4 bytes each, then the payload, in which records follow each other.
type file struct {
	f    *os.File
	size int64
	dir  string
	ends []int64 // of the runs
}

const blockHead = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("the file has other bytes than were written: the disk may be failing; repeat the command")

// checksum is of a payload at that offset: a block at another place has another one.
func checksum(offset int64, payload []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(offset))
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, payload)
}

// runWriter appends records to a file.
type runWriter struct {
	*file
	block []byte // a head and a payload
	limit int    // of the block
}

// add appends a record; its block is written when it is full.
func (w *runWriter) add(key, value []byte) error {
	if len(w.block) > blockHead && len(w.block)+recordSize(key, value) > w.limit {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.block = wire.AppendBytes(wire.AppendBytes(w.block, key), value)
	return nil
}

func (w *runWriter) flush() error {
	payload := w.block[blockHead:]
	binary.LittleEndian.PutUint32(w.block, uint32(len(payload)))
	binary.LittleEndian.PutUint32(w.block[4:], checksum(w.size, payload))
	n, err := w.f.Write(w.block)
	if err != nil {
		return Explain(w.dir, err)
	}
	w.size += int64(n)
	w.block = w.block[:blockHead]
	return nil
}

// cursor reads the records of a run.
type cursor struct {
	*file
	index       int   // of the run
	offset, end int64 // of the next block, and of the run
	block       []byte
	left        wire.Cursor // of the block
	key, value  []byte
}

// next moves to the next record; ok is false after the last one.
func (c *cursor) next() (ok bool, err error) {
	for len(c.left.B) == 0 {
		if c.offset == c.end {
			return false, nil
		}
		if err := c.read(); err != nil {
			return false, Explain(c.dir, err)
		}
	}
	if c.key, c.value = c.left.Bytes(), c.left.Bytes(); c.left.Failed {
		return false, Explain(c.dir, errDamaged)
	}
	return true, nil
}

// read reads the next block.
func (c *cursor) read() error {
	var head [blockHead]byte
	if err := c.readAt(head[:], c.offset); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > c.end-c.offset-blockHead {
		return errDamaged
	}
	if int64(cap(c.block)) < n {
		c.block = make([]byte, n)
	}
	c.block = c.block[:n]
	if err := c.readAt(c.block, c.offset+blockHead); err != nil {
		return err
	}
	if checksum(c.offset, c.block) != binary.LittleEndian.Uint32(head[4:]) {
		return errDamaged
	}
	c.left = wire.Cursor{B: c.block}
	c.offset += blockHead + n
	return nil
}

func (f *file) readAt(p []byte, offset int64) error {
	_, err := f.f.ReadAt(p, offset)
	if errors.Is(err, io.EOF) {
		return errDamaged // it was longer
	}
	return err
}

// Temporary returns a file in the folder dir, "" means os.TempDir(), that has no name any more: nothing is
// left of it when it is closed or the process is killed.
func Temporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".dsconv-*")
	if err != nil {
		return nil, Explain(dir, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(Explain(dir, err), f.Close())
	}
	return f, nil
}

// Explain adds to an error about a file from Temporary which folder it is in, and what to do.
func Explain(dir string, err error) error {
	advice := ""
	if dir == "" {
		dir, advice = os.TempDir(), "; the variable TMPDIR chooses another folder"
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err // the file's name helps nobody
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		advice = "; free space there" + advice
	}
	return fmt.Errorf("temporary file in %s: %w%s", dir, err, advice)
}

// merge calls yield for each record of the runs.
func (f *file) merge(yield func(key, value []byte) error) error {
	var h mergeHeap
	for i, from := range append([]int64{0}, f.ends[:len(f.ends)-1]...) {
		c := &cursor{file: f, index: i, offset: from, end: f.ends[i]}
		if ok, err := c.next(); err != nil {
			return err
		} else if ok {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		c := h[0]
		if err := yield(c.key, c.value); err != nil {
			return err
		}
		if ok, err := c.next(); err != nil {
			return err
		} else if !ok {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return nil
}

// mergeHeap has the cursor with the smallest key first; of equal keys that of the older run.
type mergeHeap []*cursor

func (h mergeHeap) Len() int { return len(h) }

func (h mergeHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].index < h[j].index
}

func (h mergeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *mergeHeap) Push(x any) { *h = append(*h, x.(*cursor)) }

func (h *mergeHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
