package manifest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// A write has at most manifestBatch rows and about batchText bytes of strings, which bounds
// the size of a page: see maxPage.
const (
	manifestBatch = 1024
	batchText     = 1 << 20
)

// manifestRowGroup is the number of rows of a row group: constant, so that the file's bytes
// depend only on the rows.
const manifestRowGroup = 1 << 17

// Writer writes manifest.parquet. It holds at most one row group. It is for one goroutine.
type Writer struct {
	table *tableWriter
	names []string // of the user's columns
	row   Row      // what is written next
	rank  int64
}

// NewWriter returns a Writer to w of rows with user columns of those names; history says whether
// the rows may have Provenance, so that there are columns of it.
func NewWriter(w io.Writer, columns []string, history bool) *Writer {
	m := &Writer{names: slices.Clone(columns), rank: -1}
	all := append(rowColumns(&m.row, columns), column{name: "rank", value: &m.rank})
	if history {
		all = append(all, provenanceColumns(&m.row)...)
	}
	m.table = newTableWriter(w, "manifest", all)
	return m
}

// Append writes r, of which it keeps nothing. Rows come in the order of their keys.
func (w *Writer) Append(r *Row) error {
	if err := r.CheckTexts(w.names); err != nil {
		return fmt.Errorf("key %q: %w", r.Key, err)
	}
	values := w.row.Columns // which the table reads
	copy(values, r.Columns)
	w.row, w.rank = *r, w.rank+1
	w.row.Columns = values
	if err := w.table.append(); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// Close writes what is left, and the end of the file.
func (w *Writer) Close() error {
	if err := w.table.close(); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// tableWriter writes a Parquet file: with each append, what the columns then point to.
type tableWriter struct {
	to      *parquet.GenericWriter[any]
	columns []column // in the order of the file
	rows    []parquet.Row
	n       int    // of rows that are not written
	bytes   []byte // of their strings and hashes
	text    int    // bytes of their strings that are not words
}

func newTableWriter(w io.Writer, name string, columns []column) *tableWriter {
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) }) // as the schema does
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = c.node()
	}
	t := &tableWriter{columns: columns, to: parquet.NewGenericWriter[any](w, parquet.NewSchema(name, group),
		parquet.Compression(&parquet.Zstd), parquet.CreatedBy("dsconv", "1", ""), parquet.MaxRowsPerRowGroup(manifestRowGroup))}
	for row := range slices.Chunk(make(parquet.Row, manifestBatch*len(columns)), len(columns)) {
		t.rows = append(t.rows, row)
	}
	return t
}

func (t *tableWriter) append() error {
	for i := range t.columns {
		t.rows[t.n][i] = t.value(&t.columns[i]).Level(0, 0, i)
	}
	if t.n++; t.n == manifestBatch || t.text >= batchText {
		return t.flush()
	}
	return nil
}

func (t *tableWriter) value(c *column) parquet.Value {
	switch p := c.value.(type) {
	case *int64:
		return parquet.Int64Value(*p)
	case *int:
		return parquet.Int32Value(int32(*p))
	case *uint16:
		return parquet.Int32Value(int32(*p))
	case *[16]byte:
		return parquet.FixedLenByteArrayValue(keep(t, p[:]))
	case *string:
		if !c.word {
			t.text += len(*p)
		}
		return parquet.ByteArrayValue(keep(t, *p))
	}
	return parquet.Value{}
}

// keep returns a copy of p until the next flush.
func keep[T string | []byte](t *tableWriter, p T) []byte {
	from := len(t.bytes)
	t.bytes = append(t.bytes, p...)
	return t.bytes[from:]
}

func (t *tableWriter) flush() error {
	_, err := t.to.WriteRows(t.rows[:t.n])
	t.n, t.text, t.bytes = 0, 0, t.bytes[:0]
	return err
}

func (t *tableWriter) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.to.Close()
}
