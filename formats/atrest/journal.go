package atrest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/dsconv/dsconv/formats"
)

// A journal is a sequence of records: length (uint32), CRC-32C of the payload (uint32),
// payload. The first is the dataset's Meta; each further one is a checkpoint: the rows
// since the last one, the format's state, the caller's note. A torn record at the end is
// what a kill leaves: it is cut off.

const recordHeader = 8

// checkpoint is the last one of a journal.
type checkpoint struct {
	state, note []byte
	length      int64 // of its record
}

func appendRecord(f *os.File, payload []byte) error {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHeader+len(payload)), uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	if _, err := f.Write(append(b, payload...)); err != nil {
		return err
	}
	return f.Sync()
}

// records splits b and gives the number of bytes that whole records take.
func records(b []byte) (payloads [][]byte, whole int64) {
	for {
		rest := b[whole:]
		if len(rest) < recordHeader {
			return payloads, whole
		}
		n := int64(binary.LittleEndian.Uint32(rest))
		if n > int64(len(rest)-recordHeader) {
			return payloads, whole
		}
		p := rest[recordHeader : recordHeader+n]
		if crc32.Checksum(p, castagnoli) != binary.LittleEndian.Uint32(rest[4:]) {
			return payloads, whole
		}
		payloads = append(payloads, p)
		whole += recordHeader + n
	}
}

func encodeCheckpoint(t *Table, from int, state, note []byte) []byte {
	b := appendBytes(nil, state)
	b = appendBytes(b, note)
	b = binary.AppendUvarint(b, uint64(t.Len()-from))
	for i := from; i < t.Len(); i++ {
		b = t.appendRow(b, i)
	}
	return b
}

func decodeCheckpoint(p []byte, t *Table) (checkpoint, error) {
	c := &cursor{b: p}
	cp := checkpoint{state: c.bytes(), note: c.bytes()}
	n := c.length(1)
	for range n {
		r := c.row(len(t.columns))
		if c.failed {
			break
		}
		if err := t.Append(&r); err != nil {
			return cp, err
		}
	}
	if c.failed || len(c.b) != 0 {
		return cp, fmt.Errorf("%w: a checkpoint does not parse", formats.ErrDamaged)
	}
	return cp, nil
}

func (t *Table) appendRow(b []byte, i int) []byte {
	r := t.rows.at(i)
	b = appendBytes(b, t.key(r))
	b = appendBytes(b, t.splits[r.split])
	b = appendBytes(b, t.encodings[r.encoding])
	b = appendBytes(b, t.path(r))
	for _, x := range []int64{
		r.label, int64(r.shard), r.offset, r.length, int64(r.shape[0]), int64(r.shape[1]), int64(r.shape[2]), r.size,
		r.srcSize, r.mod,
	} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	b = append(b, r.sum[:]...)
	b = append(b, r.hash[:]...)
	for j := range t.user {
		b = appendBytes(b, t.user[j].at(i))
	}
	return b
}

func (c *cursor) row(columns int) Row {
	var r Row
	r.Key, r.Split, r.Encoding = string(c.bytes()), string(c.bytes()), formats.Encoding(c.bytes())
	r.Source.Path = string(c.bytes())
	r.Label = c.varint()
	r.Place = Place{Shard: int(c.varint()), Offset: c.varint(), Length: c.varint()}
	r.Shape = [3]int{int(c.varint()), int(c.varint()), int(c.varint())}
	r.Size, r.Source.Size, r.Source.ModTime = c.varint(), c.varint(), c.varint()
	r.Sum, r.Source.Hash = c.sum(), c.sum()
	for range columns {
		r.Columns = append(r.Columns, string(c.bytes()))
	}
	return r
}

// readJournal reads all records of the journal at path and cuts a torn one off.
func readJournal(path string) (m *formats.Meta, t *Table, last checkpoint, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, last, formats.ErrNoPartial
	}
	if err != nil {
		return nil, nil, last, err
	}
	payloads, whole := records(b)
	if len(payloads) == 0 {
		return nil, nil, last, formats.ErrNoPartial
	}
	if m, err = DecodeMeta(payloads[0]); err != nil {
		return nil, nil, last, err
	}
	t = NewTable(m.Columns)
	for _, p := range payloads[1:] {
		if last, err = decodeCheckpoint(p, t); err != nil {
			return nil, nil, last, fmt.Errorf("read %s: %w", path, err)
		}
	}
	last.length = recordHeader + int64(len(payloads[len(payloads)-1]))
	return m, t, last, os.Truncate(path, whole)
}

// reopenJournal opens the journal at path to append to it, and writes its last record, of
// length bytes, once more: if the sync after it had failed, the system may take it for
// written though the disk does not have it, and another sync alone would not write it.
func reopenJournal(path string, length int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := rewriteEnd(f, length); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func rewriteEnd(f *os.File, length int64) error {
	at, err := f.Seek(-length, io.SeekEnd)
	if err != nil {
		return err
	}
	b := make([]byte, length)
	if _, err := f.ReadAt(b, at); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}
