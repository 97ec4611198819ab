package atrest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
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

// checkpoint is the last checkpoint of a journal.
type checkpoint struct {
	state, note []byte
	length      int64 // of its record
	end         int64 // of the record in the journal
}

func appendRecord(f *os.File, payload []byte) error {
	if len(payload) > maxRecord {
		return fmt.Errorf("a checkpoint has %d bytes, the limit is %d: make checkpoints more often", len(payload), maxRecord)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, recordHeader+len(payload)), uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	if _, err := f.Write(append(b, payload...)); err != nil {
		return err
	}
	return f.Sync()
}

// recordReader reads the complete records of a journal in order.
type recordReader struct {
	r     *bufio.Reader
	left  int64 // bytes
	whole int64 // bytes of the complete records so far
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

// tornAsEOF turns io.ErrUnexpectedEOF, an incomplete record, into io.EOF.
func tornAsEOF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

func encodeCheckpoint(t *Manifest, from int, state, note []byte) []byte {
	b := appendBytes(nil, state)
	b = appendBytes(b, note)
	b = binary.AppendUvarint(b, uint64(t.Len()-from))
	for i := from; i < t.Len(); i++ {
		b = t.appendRow(b, i)
	}
	return b
}

func decodeCheckpoint(p []byte, t *Manifest) (checkpoint, error) {
	c := &cursor{b: p}
	cp := checkpoint{state: c.bytes(), note: c.bytes()}
	n := c.length(1)
	for range n {
		r := c.row(len(t.columns), t.hasProvenance)
		if c.failed {
			break
		}
		if err := checkRow(&r); err != nil {
			return cp, err
		}
		if err := t.Append(&r); err != nil {
			return cp, err
		}
	}
	if c.failed || len(c.b) != 0 {
		return cp, fmt.Errorf("%w: a checkpoint cannot be parsed", formats.ErrDamaged)
	}
	return cp, nil
}

// checkRow rejects values that no writer writes to a journal.
func checkRow(r *Row) error {
	if err := formats.CheckKey(r.Key); err != nil {
		return fmt.Errorf("a checkpoint: %w: %w", formats.ErrDamaged, err)
	}
	if err := checkStoredSplit(r.Split); err != nil {
		return fmt.Errorf("a checkpoint: key %q: %w", r.Key, err)
	}
	for _, n := range r.Shape {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("a checkpoint: key %q: %w: impossible shape %v", r.Key, formats.ErrDamaged, r.Shape)
		}
	}
	at := r.Location
	if r.Size < 0 || at.Shard < 0 || at.Shard > math.MaxInt32 || at.Offset < 0 || at.Length < 0 {
		return fmt.Errorf("a checkpoint: key %q: %w: impossible location: an image of %d bytes in a record of %d bytes at byte %d of file %d",
			r.Key, formats.ErrDamaged, r.Size, at.Length, at.Offset, at.Shard)
	}
	return nil
}

func (t *Manifest) appendRow(b []byte, i int) []byte {
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
	b = append(b, r.checksum[:]...)
	b = append(b, r.hash[:]...)
	for j := range t.user {
		b = appendBytes(b, t.user[j].at(i))
	}
	if t.hasProvenance {
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Edited)
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Origin)
	}
	return b
}

func (c *cursor) row(columns int, marked bool) Row {
	var r Row
	r.Key, r.Split, r.Encoding = string(c.bytes()), string(c.bytes()), formats.Encoding(c.bytes())
	r.Source.Path = string(c.bytes())
	r.Label = c.varint()
	r.Location = Location{Shard: int(c.varint()), Offset: c.varint(), Length: c.varint()}
	r.Shape = [3]int{int(c.varint()), int(c.varint()), int(c.varint())}
	r.Size, r.Source.Size, r.Source.ModTime = c.varint(), c.varint(), c.varint()
	r.Checksum, r.Source.Hash = c.hash128(), c.hash128()
	for range columns {
		r.Columns = append(r.Columns, string(c.bytes()))
	}
	if marked {
		mark := c.uint32()
		r.Provenance = formats.Provenance{Edited: uint16(mark), Origin: uint16(mark >> 16)}
	}
	return r
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

// openRegular opens a regular file; ErrForeign for a link, pipe or folder.
func openRegular(path string, flag int) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, nil, foreignError(path, "it is a symbolic link")
	}
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = foreignError(path, "it is "+describeMode(st.Mode()))
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// readUpTo reads at most the first n bytes of a file.
func readUpTo(path string, n int64) ([]byte, error) {
	f, _, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
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
	_, err = DecodeMeta(p)
	return err == nil || errors.Is(err, formats.ErrNewer), nil
}

// truncateJournal keeps only the first record of the journal at path, if there is one. That
// record identifies the folder as dsconv's.
func truncateJournal(path string) error {
	f, _, err := openRegular(path, os.O_RDWR)
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

// readJournal reads all complete records of the journal at path and does not change it.
func readJournal(path string) (m *formats.Meta, t *Manifest, last checkpoint, err error) {
	f, _, err := openRegular(path, os.O_RDONLY)
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
	t = newManifestFor(m)
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

// reopenJournal opens the journal at path for appending, cuts off what follows its last
// complete record, and writes that record again. If its fsync had failed, the system may treat
// the record as written though the disk does not have it, and another fsync would not write it.
func reopenJournal(path string, last checkpoint) (*os.File, error) {
	f, err := OpenStaged(path)
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
