package staging

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// A journal is a sequence of records: length (uint32), CRC-32C of the payload (uint32),
// payload. The first is the dataset's Meta; each later one is a checkpoint: the rows
// since the last one, the format's state, the caller's note. A kill may leave an incomplete
// record at the end; resuming cuts it off.

const (
	recordHeader = 8
	// maxRecord bounds the memory that a false length in a journal can allocate. Real
	// checkpoints are a hundred times smaller.
	maxRecord = 1 << 30
)

// checkpoint is a checkpoint of a journal.
type checkpoint struct {
	state, note []byte
	count       int    // of the rows since the last one
	rows        []byte // encoded
	length      int64  // of its record
	end         int64  // of the record in the journal
}

// appendRecord appends a record whose payload is head and all that each calls its argument with.
func appendRecord(f *os.File, head []byte, each func(do func(b []byte) error) error) error {
	length, sum := int64(len(head)), crc32.Checksum(head, checksum.Castagnoli)
	err := each(func(b []byte) error {
		length += int64(len(b))
		sum = crc32.Update(sum, checksum.Castagnoli, b)
		return nil
	})
	if err != nil {
		return err
	}
	if length > maxRecord {
		return fmt.Errorf("a checkpoint has %d bytes, the limit is %d: make checkpoints more often, with a smaller number of bytes between them", length, maxRecord)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHeader+len(head)), uint32(length))
	b = append(binary.LittleEndian.AppendUint32(b, sum), head...)
	write := func(b []byte) error {
		_, err := f.Write(b)
		return err
	}
	if err := write(b); err != nil {
		return err
	}
	if err := each(write); err != nil {
		return err
	}
	return f.Sync()
}

// nothing is the rest of a record that has only a head.
func nothing(func(b []byte) error) error { return nil }

// recordReader reads the complete records of a journal in order.
type recordReader struct {
	r     *bufio.Reader
	left  int64 // bytes
	whole int64 // bytes of the complete records so far
	reuse bool  // a payload is only valid until the next one
	last  []byte
}

func newRecordReader(r io.Reader, size int64) *recordReader {
	return &recordReader{r: bufio.NewReader(r), left: size}
}

// next returns the next record's payload; io.EOF if no complete one follows.
func (r *recordReader) next() ([]byte, error) {
	var head [recordHeader]byte
	if r.left < recordHeader {
		return nil, io.EOF
	}
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, tornAsEOF(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	// No record is empty, but zeros left by a power failure would look like an empty one.
	if n == 0 || n > maxRecord || n > r.left-recordHeader {
		return nil, io.EOF
	}
	if !r.reuse || int64(cap(r.last)) < n {
		r.last = make([]byte, n)
	}
	p := r.last[:n]
	if _, err := io.ReadFull(r.r, p); err != nil {
		return nil, tornAsEOF(err)
	}
	if crc32.Checksum(p, checksum.Castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, io.EOF
	}
	r.left -= recordHeader + n
	r.whole += recordHeader + n
	return p, nil
}

// tornAsEOF turns io.ErrUnexpectedEOF, an incomplete record, into io.EOF.
func tornAsEOF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// encodeCheckpoint returns the beginning of a checkpoint of count rows, which follow.
func encodeCheckpoint(count int, state, note []byte) []byte {
	b := wire.AppendBytes(nil, state)
	b = wire.AppendBytes(b, note)
	return binary.AppendUvarint(b, uint64(count))
}

func decodeCheckpoint(p []byte) (checkpoint, error) {
	c := &wire.Cursor{B: p}
	cp := checkpoint{state: c.Bytes(), note: c.Bytes(), count: c.Length(1)}
	if cp.rows = c.B; c.Failed {
		return cp, fmt.Errorf("%w: a checkpoint cannot be parsed", formats.ErrDamaged)
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

// hasJournalStart reports whether f begins with a journal's first record.
func hasJournalStart(f *os.File) (bool, error) {
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
	_, err = manifest.DecodeMeta(p)
	return err == nil || errors.Is(err, formats.ErrNewer), nil
}

// truncateJournal keeps only the first record of the journal, if there is one. That
// record identifies the folder as dsconv's.
func truncateJournal(journal entry) error {
	f, _, err := journal.openRegular(os.O_RDWR)
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
		return nil // it is damaged, but still recognized as it is
	} else if err != nil {
		return err
	}
	return f.Truncate(records.whole)
}

// eachCheckpoint reads all complete records of the journal, which it does not change. It calls begin
// with the first record's Meta, and do with each checkpoint.
func eachCheckpoint(journal entry, begin func(m *formats.Meta), do func(c *checkpoint) error) (m *formats.Meta, last checkpoint, err error) {
	f, _, err := journal.openRegular(os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return nil, last, formats.ErrNoPartial
	}
	if err != nil {
		return nil, last, err
	}
	defer f.Close()
	records, err := recordsFrom(f, 0)
	if err != nil {
		return nil, last, err
	}
	p, err := records.next()
	if errors.Is(err, io.EOF) {
		return nil, last, formats.ErrNoPartial
	}
	if err != nil {
		return nil, last, err
	}
	if m, err = manifest.DecodeMeta(p); err != nil {
		return nil, last, err
	}
	begin(m)
	length := int64(len(p))
	for {
		p, err := records.next()
		if errors.Is(err, io.EOF) {
			last.rows, last.length, last.end = nil, recordHeader+length, records.whole
			return m, last, nil
		}
		if err == nil {
			last, err = decodeCheckpoint(p)
		}
		if err == nil {
			err = do(&last)
		}
		if err != nil {
			return nil, last, fmt.Errorf("read %s: %w", journal, err)
		}
		length = int64(len(p))
	}
}

// readJournal reads the journal up to its last checkpoint.
func readJournal(journal entry, each func(r *sampleindex.Row) error) (*formats.Meta, rowLog, checkpoint, error) {
	var log rowLog
	m, last, err := eachCheckpoint(journal, func(m *formats.Meta) { log = newRowLog(m) }, func(c *checkpoint) error {
		before := log.recorded
		err := log.take(c.rows, func(r *sampleindex.Row) error {
			if err := r.CheckTaken(); err != nil {
				return err
			}
			log.recorded++
			log.count(r)
			return each(r)
		})
		if err == nil && log.recorded-before != c.count {
			err = fmt.Errorf("%w: a checkpoint cannot be parsed", formats.ErrDamaged)
		}
		return err
	})
	return m, log, last, err
}

// reopenJournal opens the journal for appending, cuts off what follows its last
// complete record, and writes that record again. If its fsync had failed, the system may treat
// the record as written though the disk does not have it, and another fsync would not write it.
func reopenJournal(journal entry, last checkpoint) (*os.File, error) {
	f, err := openStaged(journal)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(last.end); err == nil {
		err = rewriteLast(f, last.length)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func rewriteLast(f *os.File, length int64) error {
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
