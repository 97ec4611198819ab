package manifest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Read calls yield with each row of the manifest b, in the order of their keys, and returns yield's
// first error. columns are the user's columns that the manifest must have (Meta.Columns); others are
// skipped. The row is valid until yield returns, its strings too: they are views of b or of memory
// that is used again. yield must not replace its Columns. If b is mapped, the caller guards it
// (package guard).
//
// ErrDamaged unless the file is as Writer writes it: flat, without nulls, each column in its one
// encoding; with valid keys, each larger than the one before, and valid splits.
//
// A malicious file may declare sizes larger than its content, and running out of memory cannot
// be recovered from. Therefore parquet-go only writes manifests; this reader holds the footer and
// one page of each column, and allocates nothing on the basis of a declared size alone. A page has
// at most maxPage bytes before compression, and not more than Zstandard can expand to; pages do not
// overlap. All strings together have at most maxText bytes, or textRatio times the file's size.
func Read(b []byte, columns []string, yield func(r *Row) error) error {
	var r Row
	t := tableReader{what: "the manifest", columns: rowColumns(&r, columns), optional: provenanceColumns(&r)}
	split := ""
	return t.read(b, &r.Key, func() error {
		if r.Split != split {
			if err := sampleindex.CheckStoredSplit(r.Split); err != nil {
				return fmt.Errorf("read the manifest: key %q: %w", r.Key, err)
			}
			split = r.Split
		}
		return yield(&r)
	})
}

// tableReader reads a Parquet file that a tableWriter wrote.
type tableReader struct {
	what              string // the file's name in errors
	columns, optional []column
}

// read calls each after it has set what the columns point to, for each row. key is where the
// column of keys is read into.
func (t *tableReader) read(b []byte, key *string, each func() error) error {
	damaged := func(err error) error { return fmt.Errorf("read %s: %w: %w", t.what, formats.ErrDamaged, err) }
	f, err := parseFooter(b, t.columns, t.optional)
	if err != nil {
		return damaged(err)
	}
	p := &pageReader{size: len(b)}
	defer p.close()
	var columns []*columnReader
	for _, c := range append(t.columns, t.optional...) {
		if chunks := f.chunks[c.name]; len(chunks) > 0 {
			columns = append(columns, &columnReader{column: c, pageReader: p, chunks: chunks})
		}
	}
	var last []byte
	for i := range f.rows {
		for _, c := range columns {
			if err := c.next(); err != nil {
				return damaged(fmt.Errorf("row %d: column %s: %w", i, c.name, err))
			}
		}
		if err := formats.CheckKey(*key); err != nil {
			return damaged(fmt.Errorf("row %d: %w", i, err))
		}
		if *key <= string(last) {
			return damaged(fmt.Errorf("row %d: the key %q comes after %q", i, *key, last))
		}
		last = append(last[:0], *key...)
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}
