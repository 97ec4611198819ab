package atrest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/dsconv/dsconv/internal/durable"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// A journal is a sequence of records: length (uint32), CRC-32C of the payload (uint32),
// payload. The first is the dataset's Meta; each further one is a checkpoint: the rows
// since the last one, the format's state, the caller's note. A torn record at the end is
// what a kill leaves: whoever goes on with the journal cuts it off.

const (
	recordHeader = 8
	// maxRecord bounds the memory that a length in a journal can ask for. A checkpoint's
	// record is a hundred times smaller.
	maxRecord = 1 << 30
)

// checkpoint is the last one of a journal.
type checkpoint struct {
	state, note []byte
	length      int64 // of its record
	end         int64 // of the record in the journal
}

func appendRecord(f *os.File, payload []byte) error {
	if len(payload) > maxRecord {
		return fmt.Errorf("a checkpoint of %d bytes, at most %d are possible: make checkpoints more often", len(payload), maxRecord)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHeader+len(payload)), uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	if _, err := f.Write(append(b, payload...)); err != nil {
		return err
	}
	return f.Sync()
}

// recordReader gives the whole records of a journal one after another.
type recordReader struct {
	r     *bufio.Reader
	left  int64 // bytes
	whole int64 // bytes of the records so far
}

func newRecordReader(r io.Reader, size int64) *recordReader {
	return &recordReader{r: bufio.NewReader(r), left: size}
}

// next gives the next record's payload; io.EOF where no whole one follows.
func (r *recordReader) next() ([]byte, error) {
	var head [recordHeader]byte
	if r.left < recordHeader {
		return nil, io.EOF
	}
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, tornAsEOF(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	// No record is empty, but zeros, which a loss of power can leave, would be one.
	if n == 0 || n > maxRecord || n > r.left-recordHeader {
		return nil, io.EOF
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(r.r, p); err != nil {
		return nil, tornAsEOF(err)
	}
	if crc32.Checksum(p, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, io.EOF
	}
	r.left -= recordHeader + n
	r.whole += recordHeader + n
	return p, nil
}

// tornAsEOF is io.EOF for a file that ends sooner than it said.
func tornAsEOF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

func encodeCheckpoint(t *Table, from int, state, note []byte) []byte {
	b := appendBytes(nil, state)
	b = appendBytes(b, note)
	return t.AppendRows(b, from)
}

func decodeCheckpoint(p []byte, t *Table) (checkpoint, error) {
	c := &cursor{b: p}
	cp := checkpoint{state: c.bytes(), note: c.bytes()}
	if err := t.TakeRows(c); err != nil {
		return cp, err
	}
	if c.failed || len(c.b) != 0 {
		return cp, fmt.Errorf("%w: a checkpoint does not parse", formats.ErrDamaged)
	}
	return cp, nil
}

// recordsFrom reads the records of a journal that begin at byte from.
func recordsFrom(f *os.File, from int64) (*recordReader, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	left := max(0, st.Size()-from)
	return newRecordReader(io.NewSectionReader(f, from, left), left), nil
}

// openPlain opens a file, and no link, pipe or folder.
func openPlain(path string, flag int) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, nil, foreign(path, "it is a symbolic link, which dsconv did not make")
	}
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = foreign(path, "it is "+durable.KindOf(st.Mode())+", which dsconv did not make")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// readUpTo reads the first n bytes of a file.
func readUpTo(path string, n int64) ([]byte, error) {
	f, _, err := openPlain(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// beginsJournal reports whether f begins with a journal's first record.
func beginsJournal(f *os.File) (bool, error) {
	records, err := recordsFrom(f, 0)
	if err != nil {
		return false, err
	}
	p, err := records.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = DecodeMeta(p)
	return err == nil || errors.Is(err, formats.ErrNewer), nil
}

// cutJournal leaves the first record of the journal at path, if there is one: it tells whose the
// folder is.
func cutJournal(path string) error {
	f, _, err := openPlain(path, os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	records, err := recordsFrom(f, 0)
	if err != nil {
		return err
	}
	if _, err := records.next(); errors.Is(err, io.EOF) {
		return nil // it rotted; as it is, it is still known
	} else if err != nil {
		return err
	}
	return f.Truncate(records.whole)
}

// readJournal reads all whole records of the journal at path, which stays as it is.
func readJournal(path string) (m *formats.Meta, t *Table, last checkpoint, err error) {
	f, _, err := openPlain(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, last, formats.ErrNoPartial
	}
	if err != nil {
		return nil, nil, last, err
	}
	defer f.Close()
	records, err := recordsFrom(f, 0)
	if err != nil {
		return nil, nil, last, err
	}
	p, err := records.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, last, formats.ErrNoPartial
	}
	if err != nil {
		return nil, nil, last, err
	}
	if m, err = DecodeMeta(p); err != nil {
		return nil, nil, last, err
	}
	t = newTableOf(m)
	length := int64(len(p))
	for {
		p, err := records.next()
		if errors.Is(err, io.EOF) {
			last.length, last.end = recordHeader+length, records.whole
			return m, t, last, nil
		}
		if err == nil {
			last, err = decodeCheckpoint(p, t)
		}
		if err != nil {
			return nil, nil, last, fmt.Errorf("read %s: %w", path, err)
		}
		length = int64(len(p))
	}
}

// reopenJournal opens the journal at path to append to it, cuts off what follows its last
// whole record, and writes that record once more: if the sync after it had failed, the system
// may take it for written though the disk does not have it, and another sync alone would not
// write it.
func reopenJournal(path string, last checkpoint) (*os.File, error) {
	f, err := OpenStaged(path)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(last.end); err == nil {
		err = rewriteEnd(f, last.length)
	}
	if err != nil {
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
