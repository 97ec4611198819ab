package manifest

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// maxString is the length limit of a string in a column.
const maxString = sampleindex.MaxText

// maxPage is more than the size of any page before compression: the writer begins a new page
// after 256 KiB, and one write has at most batchText bytes and one more row.
const maxPage = maxString + 2<<20

// Bounds of the size of all strings: in bytes, and as a multiple of the file's size. Each row
// has two hashes that do not compress, so real manifests stay below them.
const (
	maxText   = 256 << 20
	textRatio = 32
)

// Read calls yield with each row of the manifest b, in the order of their keys, and returns yield's
// first error. columns are the user's columns that the manifest must have (Meta.Columns); others are
// skipped. The row is valid until yield returns, its strings too: they are views of b or of memory
// that is used again. yield must not replace its Columns. If b is mapped, the caller guards it
// (package guard).
//
// ErrDamaged unless the columns are flat and without nulls, the keys valid, each larger than the one before,
// and the splits valid.
//
// A malicious file may declare sizes larger than its content, and running out of memory cannot
// be recovered from. Therefore parquet-go only writes manifests; package parquetfile reads them, which
// holds the footer and one page of each column. All strings together have at most maxText bytes, or
// textRatio times the file's size.
func Read(b []byte, columns []string, yield func(r *Row) error) error {
	var r Row
	t := tableReader{what: "the manifest", columns: rowColumns(&r, columns), optional: provenanceColumns(&r)}
	var split []byte
	return t.read(b, &r.Key, func() error {
		if r.Split != string(split) {
			if err := sampleindex.CheckStoredSplit(r.Split); err != nil {
				return fmt.Errorf("read the manifest: key %q: %w", r.Key, err)
			}
			split = append(split[:0], r.Split...)
		}
		return yield(&r)
	})
}

// tableReader reads a Parquet file that a tableWriter wrote.
type tableReader struct {
	what              string // the file's name in errors
	columns, optional []column
	text              int // bytes of strings that may come
}

// columnReader reads a column.
type columnReader struct {
	column
	*parquetfile.Cursor
	at   int     // the next value in the page
	ints []int64 // of the page, if the column has such
}

// read calls each after it has set what the columns point to, for each row. key is where the
// column of keys is read into.
func (t *tableReader) read(b []byte, key *string, each func() error) error {
	damaged := func(err error) error {
		if !errors.Is(err, formats.ErrDamaged) {
			err = fmt.Errorf("%w: %w", formats.ErrDamaged, err)
		}
		return fmt.Errorf("read %w", err)
	}
	f, err := parquetfile.Parse(t.what, b, parquetfile.Limits{Page: maxPage, Group: manifestRowGroup})
	if err != nil {
		return damaged(err)
	}
	columns, err := t.readers(f)
	if err != nil {
		return damaged(err)
	}
	t.text = max(maxText, textRatio*len(b))
	var last []byte
	for i := range f.Rows() {
		for k := range columns {
			if err := t.next(&columns[k]); err != nil {
				return damaged(err)
			}
		}
		if err := formats.CheckKey(*key); err != nil {
			return damaged(fmt.Errorf("%s: row %d: %w", t.what, i, err))
		}
		if *key <= string(last) {
			return damaged(fmt.Errorf("%s: row %d: the key %q comes after %q", t.what, i, *key, last))
		}
		last = append(last[:0], *key...)
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

// readers returns readers of the columns in f. Optional ones may be missing.
func (t *tableReader) readers(f *parquetfile.File) (readers []columnReader, err error) {
	at := map[string]int{}
	for i := range f.Columns() {
		if c := &f.Columns()[i]; c.IsRead() && len(c.Path) == 1 {
			at[c.Path[0]] = i + 1
		}
	}
	for i, c := range append(t.columns, t.optional...) {
		k := at[c.name]
		if k > 0 {
			readers = append(readers, columnReader{column: c, Cursor: f.Cursor(k - 1)})
			at[c.name] = 0
		} else if i < len(t.columns) {
			return nil, fmt.Errorf("%s: it has no column %q, or it is asked for twice", t.what, c.name)
		}
	}
	return readers, nil
}

// next sets what the column points to to the next value.
func (t *tableReader) next(c *columnReader) error {
	if c.at == c.Rows() {
		if err := c.Next(); err != nil {
			return err
		}
		c.at, c.ints = 0, c.Numbers()
	}
	i := c.at
	c.at++
	if i < len(c.ints) {
		switch p := c.value.(type) {
		case *int64:
			*p = c.ints[i]
			return nil
		case *int:
			*p = int(int32(c.ints[i]))
			return nil
		case *uint16:
			*p = uint16(c.ints[i])
			return nil
		}
	} else if b, ok := c.Bytes(i); ok {
		switch p := c.value.(type) {
		case *[16]byte:
			if copy(p[:], b) == len(b) && len(b) == len(p) {
				return nil
			}
		case *string:
			*p = unsafeString(b)
			if !c.word {
				t.text -= len(b)
			}
			if t.text < 0 {
				return fmt.Errorf("%s: its strings have more than %d times its bytes", t.what, textRatio)
			}
			return nil
		}
	}
	return fmt.Errorf("%s: column %s: a value is missing or of another type", t.what, c.name)
}

// unsafeString returns b as a string without a copy: valid until b's bytes change.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
