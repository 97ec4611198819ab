package extsort

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"

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
