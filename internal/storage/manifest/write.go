package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
)

// userPrefix begins the names of the user's columns, so that one may be called "label".
const userPrefix = "user."

// A write has at most manifestBatch rows and about batchText bytes of strings, which bounds
// the size of a page: see maxPage.
const (
	manifestBatch = 1024
	batchText     = 1 << 20
)

// manifestRowGroup is the number of rows of a row group: constant, so that the file's bytes
// depend only on the rows.
const manifestRowGroup = 1 << 17

func manifestSchema(columns []string, marked bool) *parquet.Schema {
	integer := parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	small := parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)
	text := parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)
	word := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	hash := parquet.Leaf(parquet.FixedLenByteArrayType(16))
	g := parquet.Group{
		"key": text, "rank": integer, "label": integer, "split": word,
		"shard": small, "offset": integer, "length": integer,
		"height": small, "width": small, "channels": small,
		"encoding": word, "size": integer, "checksum": hash,
		"source_path": text, "source_size": integer, "source_mtime_ns": integer, "source_hash": hash,
	}
	for _, name := range columns {
		g[userPrefix+name] = text
	}
	if marked {
		g["edited"], g["origin"] = small, small
	}
	return parquet.NewSchema("manifest", g)
}

// WriteParquet writes the rows in the given order (see KeyOrder) as manifest.parquet.
func (t *Manifest) WriteParquet(w io.Writer, ranks []int32) error {
	schema := manifestSchema(t.Columns, t.history() != nil)
	fill := t.fillers(schema)
	err := writeParquet(w, schema, len(ranks), func(rank int, row parquet.Row) (text int) {
		i := int(ranks[rank])
		for c, f := range fill {
			row[c] = f(rank, i).Level(0, 0, c)
		}
		return t.textSize(i)
	})
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// writeParquet writes n rows. fill sets row i and returns how many bytes of strings it has.
func writeParquet(w io.Writer, schema *parquet.Schema, n int, fill func(i int, row parquet.Row) (text int)) error {
	pw := parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("dsconv", "1", ""), parquet.MaxRowsPerRowGroup(manifestRowGroup))
	width := len(schema.Columns())
	rows := make([]parquet.Row, 0, manifestBatch)
	text := 0
	for i := range n {
		row := make(parquet.Row, width)
		text += fill(i, row)
		if rows = append(rows, row); len(rows) == manifestBatch || text >= batchText {
			if _, err := pw.WriteRows(rows); err != nil {
				return err
			}
			rows, text = rows[:0], 0
		}
	}
	if _, err := pw.WriteRows(rows); err != nil {
		return err
	}
	return pw.Close()
}

// textSize returns the number of bytes of row i's strings.
func (t *Manifest) textSize(i int) int {
	r := t.rows.at(i)
	sum := int(r.keyLen) + int(r.pathLen)
	for j := range t.user {
		sum += len(t.user[j].at(i))
	}
	return sum
}

// fillers returns, for each column of the schema in its order, the function that computes its
// value from the position in key order and the row.
func (t *Manifest) fillers(schema *parquet.Schema) []func(rank, i int) parquet.Value {
	of := func(value func(r *row) parquet.Value) func(int, int) parquet.Value {
		return func(_, i int) parquet.Value { return value(t.rows.at(i)) }
	}
	i64 := func(get func(r *row) int64) func(int, int) parquet.Value {
		return of(func(r *row) parquet.Value { return parquet.Int64Value(get(r)) })
	}
	i32 := func(get func(r *row) int32) func(int, int) parquet.Value {
		return of(func(r *row) parquet.Value { return parquet.Int32Value(get(r)) })
	}
	text := func(get func(r *row) string) func(int, int) parquet.Value {
		return of(func(r *row) parquet.Value { return parquet.ByteArrayValue([]byte(get(r))) })
	}
	hash := func(get func(r *row) []byte) func(int, int) parquet.Value {
		return of(func(r *row) parquet.Value { return parquet.FixedLenByteArrayValue(get(r)) })
	}
	by := map[string]func(int, int) parquet.Value{
		"key": text(t.key), "source_path": text(t.path),
		"split":           text(func(r *row) string { return t.splits[r.split] }),
		"encoding":        text(func(r *row) string { return t.encodings[r.encoding] }),
		"rank":            func(rank, _ int) parquet.Value { return parquet.Int64Value(int64(rank)) },
		"label":           i64(func(r *row) int64 { return r.label }),
		"offset":          i64(func(r *row) int64 { return r.offset }),
		"length":          i64(func(r *row) int64 { return r.length }),
		"size":            i64(func(r *row) int64 { return r.size }),
		"source_size":     i64(func(r *row) int64 { return r.srcSize }),
		"source_mtime_ns": i64(func(r *row) int64 { return r.mod }),
		"shard":           i32(func(r *row) int32 { return r.shard }),
		"height":          i32(func(r *row) int32 { return r.shape[0] }),
		"width":           i32(func(r *row) int32 { return r.shape[1] }),
		"channels":        i32(func(r *row) int32 { return r.shape[2] }),
		"edited":          i32(func(r *row) int32 { return int32(r.provenance.Edited) }),
		"origin":          i32(func(r *row) int32 { return int32(r.provenance.Origin) }),
		"checksum":        hash(func(r *row) []byte { return r.checksum[:] }),
		"source_hash":     hash(func(r *row) []byte { return r.hash[:] }),
	}
	for j, name := range t.Columns {
		by[userPrefix+name] = func(_, i int) parquet.Value { return parquet.ByteArrayValue([]byte(t.user[j].at(i))) }
	}
	fill := make([]func(int, int) parquet.Value, 0, len(by))
	for _, path := range schema.Columns() {
		fill = append(fill, by[path[0]])
	}
	return fill
}

// MetaName is the name of the file with the Meta in the folder that describes a dataset.
const MetaName = "dataset.json"

// EncodeMeta returns the content of dataset.json.
func EncodeMeta(m *formats.Meta) ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode dataset.json: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeMeta reads dataset.json. ErrNewer if a later version wrote it.
func DecodeMeta(b []byte) (*formats.Meta, error) {
	m := new(formats.Meta)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("read dataset.json: %w: %w", formats.ErrDamaged, err)
	}
	if m.Version > formats.Version {
		return nil, fmt.Errorf("%w: it has version %d, this dsconv reads versions up to %d; install a newer one", formats.ErrNewer, m.Version, formats.Version)
	}
	if err := m.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("read dataset.json: %w: %w", formats.ErrDamaged, err)
	}
	for _, name := range m.Files {
		// A replacement removes these files, so none may lie in another folder.
		if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
			return nil, fmt.Errorf("read dataset.json: %w: a data file cannot be named %q", formats.ErrDamaged, name)
		}
	}
	for _, s := range m.Splits {
		if err := checkStoredSplit(s.Name); err != nil {
			return nil, fmt.Errorf("read dataset.json: %w", err)
		}
	}
	return m, nil
}

// checkStoredSplit rejects a split name that is not a safe relative path. Earlier versions
// accepted names with slashes: their datasets can still be read and relabelled.
func checkStoredSplit(name string) error {
	if name == "" {
		return nil
	}
	if err := formats.CheckKey(name); err != nil {
		return fmt.Errorf("%w: %w: %q: %w", formats.ErrDamaged, formats.ErrSplit, name, err)
	}
	return nil
}
