package sampleindex

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// Writer writes an index of rows, which come in key order. It keeps some buffers and no rows, and belongs
// to one goroutine.
type Writer struct {
	f       *os.File
	l       *layout
	n       int
	last    string // key
	table   *bufio.Writer
	keys    *bufio.Writer
	paths   *bufio.Writer
	user    []*bufio.Writer
	labels  *bufio.Writer
	members []*bufio.Writer
	listed  []int
	row     []byte
	numbers []int64
	ends    []int64 // bytes of keys, paths and each user column so far
}

// NewWriter begins an index in the empty file f, which stays the caller's. All rows must have been added
// to p.
func NewWriter(f *os.File, p *Profile) (*Writer, error) {
	l := p.layout()
	w := &Writer{
		f: f, l: l, row: make([]byte, l.width), numbers: make([]int64, len(l.numbers)), ends: make([]int64, 2+len(l.columns)), listed: make([]int, len(l.members)),
	}
	at := func(s span) *bufio.Writer { return bufio.NewWriterSize(io.NewOffsetWriter(f, s.at), 64<<10) }
	w.table, w.keys, w.paths, w.labels = at(l.table), at(l.keys), at(l.paths), at(l.labels)
	for _, s := range l.user {
		w.user = append(w.user, at(s))
	}
	for _, s := range l.members {
		w.members = append(w.members, at(s))
	}
	_, err := f.WriteAt(l.encode(), pageSize)
	return w, err
}

// Build writes an index of rows, which come in key order, into the empty file f. It goes over them twice.
func Build(f *os.File, columns []string, fields int, rows Rows, id ID) error {
	p := NewProfile(columns, fields)
	if err := rows(func(r *Row) error {
		if err := p.CheckLimits(r); err != nil {
			return fmt.Errorf("key %q: %w", r.Key, err)
		}
		p.Add(r)
		return nil
	}); err != nil {
		return err
	}
	w, err := NewWriter(f, p)
	if err != nil {
		return err
	}
	if err := rows(w.Append); err != nil {
		return err
	}
	return w.Finish(id)
}

// Append adds a row. ErrKey if its key is that of the row before.
func (w *Writer) Append(r *Row) error {
	switch {
	case w.n > 0 && r.Key == w.last:
		return fmt.Errorf("%w: two samples have the key %q", formats.ErrKey, r.Key)
	case w.n > 0 && r.Key < w.last:
		return fmt.Errorf("key %q: %w: it comes after %q", r.Key, formats.ErrOrder, w.last)
	}
	if err := w.append(r); err != nil {
		return fmt.Errorf("write the index: key %q: %w", r.Key, err)
	}
	w.last = string(append([]byte(nil), r.Key...))
	w.n++
	return nil
}

func (w *Writer) append(r *Row) error {
	l := w.l
	appendNumbers(w.numbers, r)
	w.numbers[numberKey], w.numbers[numberPath] = w.ends[0], w.ends[1]
	for k := range l.columns {
		w.numbers[l.user0()+k] = w.ends[2+k]
	}
	path := w.code(r)
	if err := w.setNumbers(); err != nil {
		return err
	}
	if l.checksum == hashStored {
		copy(w.row[l.checksumAt:], r.Checksum[:])
	}
	if l.hash == hashStored {
		copy(w.row[l.hashAt:], r.Source.Hash[:])
	}
	if _, err := w.table.Write(w.row); err != nil {
		return err
	}
	if err := w.text(w.keys, 0, r.Key); err != nil {
		return err
	}
	if err := w.text(w.paths, 1, path); err != nil {
		return err
	}
	for k, s := range r.Columns {
		if err := w.text(w.user[k], 2+k, s); err != nil {
			return err
		}
	}
	if l.labels.length > 0 {
		if _, err := w.labels.Write(binary.LittleEndian.AppendUint64(nil, uint64(r.Label))); err != nil {
			return err
		}
	}
	if len(w.members) == 0 {
		return nil
	}
	split := w.numbers[numberSplit]
	w.listed[split]++
	_, err := w.members[split].Write(binary.LittleEndian.AppendUint32(nil, uint32(w.n)))
	return err
}

// code sets the numbers that stand for texts, and returns the path if it needs to be stored.
func (w *Writer) code(r *Row) (path string) {
	find := func(names []string, s string) int64 {
		k, ok := slices.BinarySearch(names, s)
		if !ok {
			return -1
		}
		return int64(k)
	}
	w.numbers[numberSplit] = find(w.l.splits, r.Split)
	w.numbers[numberEncoding] = find(w.l.encodings, string(r.Encoding))
	w.numbers[numberSuffix] = 0
	if suffix, ok := suffixOf(r); ok && len(w.l.suffixes) > 1 {
		w.numbers[numberSuffix] = 1 + find(w.l.suffixes[1:], suffix)
		return ""
	}
	return r.Source.Path
}

func (w *Writer) setNumbers() error {
	for k := range w.l.numbers {
		if err := w.l.numbers[k].set(w.row, w.numbers[k]); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) text(to *bufio.Writer, end int, s string) error {
	w.ends[end] += int64(len(s))
	_, err := to.WriteString(s)
	return err
}

// Finish completes the index of all rows, which was made from what id says. It does not sync the file.
func (w *Writer) Finish(id ID) error {
	if err := w.finish(id); err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return nil
}

func (w *Writer) finish(id ID) error {
	l := w.l
	ends := []int64{l.keys.length, l.paths.length}
	for _, s := range l.user {
		ends = append(ends, s.length)
	}
	if w.n != l.rows || !slices.Equal(ends, w.ends) {
		return fmt.Errorf("%d rows where %d were announced, or other texts", w.n, l.rows)
	}
	// The texts of the last row end where those of one more row would begin.
	clear(w.row)
	for k := range w.numbers {
		w.numbers[k] = l.numbers[k].base
	}
	w.numbers[numberKey], w.numbers[numberPath] = w.ends[0], w.ends[1]
	for k := range l.columns {
		w.numbers[l.user0()+k] = w.ends[2+k]
	}
	if err := w.setNumbers(); err != nil {
		return err
	}
	_, err := w.table.Write(append(w.row[:l.texts:l.texts], make([]byte, 8)...))
	for _, b := range slices.Concat([]*bufio.Writer{w.table, w.keys, w.paths, w.labels}, w.user, w.members) {
		err = errors.Join(err, b.Flush())
	}
	if err != nil {
		return err
	}
	h := header{rows: l.rows, id: id, description: int64(len(l.encode())), data: l.end / pageSize}
	if h.root, err = writeChecksums(w.f, h.data); err != nil {
		return err
	}
	_, err = w.f.WriteAt(h.encode(), 0)
	return err
}

// writeChecksums appends the checksums of the pages after the first one, of data pages, and those of the
// checksums. It returns that of the last page.
func writeChecksums(f *os.File, data int64) (root uint32, err error) {
	first, total := levels(data)
	if err := f.Truncate(total * pageSize); err != nil {
		return 0, err
	}
	for k, from := range first {
		to := total
		if k+1 < len(first) {
			to = first[k+1]
		}
		r := bufio.NewReaderSize(io.NewSectionReader(f, from*pageSize, (to-from)*pageSize), 256<<10)
		w := bufio.NewWriterSize(io.NewOffsetWriter(f, to*pageSize), 64<<10)
		page := make([]byte, pageSize)
		for range to - from {
			if _, err := io.ReadFull(r, page); err != nil {
				return 0, err
			}
			root = crc32.Checksum(page, checksum.Castagnoli)
			if k+1 == len(first) {
				return root, nil
			}
			if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, root)); err != nil {
				return 0, err
			}
		}
		if err := w.Flush(); err != nil {
			return 0, err
		}
	}
	return root, nil
}
