package atrest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
)

// userPrefix goes before the name of a user's column, so that it can be called "label".
const userPrefix = "user."

// manifestBatch is the number of rows of one write; it does not show in the file.
const manifestBatch = 1024

// manifestRowGroup is the number of rows of a row group: fixed, so that the file's bytes
// depend on the rows alone.
const manifestRowGroup = 1 << 17

func manifestSchema(columns []string) *parquet.Schema {
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
	return parquet.NewSchema("manifest", g)
}

// WriteManifest writes the rows in the order of ranks (see Table.Ranks) as Parquet.
func (t *Table) WriteManifest(w io.Writer, ranks []int32) error {
	schema := manifestSchema(t.columns)
	pw := parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("dsconv", "1", ""), parquet.MaxRowsPerRowGroup(manifestRowGroup))
	fill := t.fillers(schema)
	rows := make([]parquet.Row, 0, manifestBatch)
	flush := func() error {
		_, err := pw.WriteRows(rows)
		rows = rows[:0]
		return err
	}
	for rank, i := range ranks {
		row := make(parquet.Row, len(fill))
		for c, f := range fill {
			row[c] = f(rank, int(i)).Level(0, 0, c)
		}
		if rows = append(rows, row); len(rows) == manifestBatch {
			if err := flush(); err != nil {
				return fmt.Errorf("write the manifest: %w", err)
			}
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if err := pw.Close(); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// fillers gives, for each column of the schema in its order, the function that makes its
// value from rank and row.
func (t *Table) fillers(schema *parquet.Schema) []func(rank, i int) parquet.Value {
	i64 := func(c []int64) func(int, int) parquet.Value {
		return func(_, i int) parquet.Value { return parquet.Int64Value(c[i]) }
	}
	i32 := func(c []int32) func(int, int) parquet.Value {
		return func(_, i int) parquet.Value { return parquet.Int32Value(c[i]) }
	}
	text := func(at func(int) string) func(int, int) parquet.Value {
		return func(_, i int) parquet.Value { return parquet.ByteArrayValue([]byte(at(i))) }
	}
	hash := func(c [][16]byte) func(int, int) parquet.Value {
		return func(_, i int) parquet.Value { return parquet.FixedLenByteArrayValue(c[i][:]) }
	}
	by := map[string]func(int, int) parquet.Value{
		"key": text(t.key.at), "split": text(t.split.at), "encoding": text(t.enc.at), "source_path": text(t.path.at),
		"rank":  func(rank, _ int) parquet.Value { return parquet.Int64Value(int64(rank)) },
		"label": i64(t.label), "offset": i64(t.offset), "length": i64(t.length), "size": i64(t.size),
		"source_size": i64(t.srcSize), "source_mtime_ns": i64(t.mod),
		"shard": i32(t.shard), "height": i32(t.h), "width": i32(t.w), "channels": i32(t.c),
		"checksum": hash(t.sum), "source_hash": hash(t.hash),
	}
	for j, name := range t.columns {
		by[userPrefix+name] = text(t.user[j].at)
	}
	fill := make([]func(int, int) parquet.Value, 0, len(by))
	for _, path := range schema.Columns() {
		fill = append(fill, by[path[0]])
	}
	return fill
}

// ReadManifest reads the manifest of size bytes in r. columns are the user's columns that
// it must have (Meta.Columns).
func ReadManifest(r io.ReaderAt, size int64, columns []string) (t *Table, err error) {
	// parquet-go panics on some malformed files; a damaged manifest is an error.
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("read the manifest: %w: %v", formats.ErrDamaged, p)
		}
	}()
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w: %w", formats.ErrDamaged, err)
	}
	if err := checkCounts(f); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	t = NewTable(slices.Clone(columns))
	names := f.Schema().Columns()
	for _, g := range f.RowGroups() {
		for c, chunk := range g.ColumnChunks() {
			if err := t.readChunk(names[c][0], chunk); err != nil {
				return nil, fmt.Errorf("read the manifest: column %s: %w: %w", names[c][0], formats.ErrDamaged, err)
			}
		}
	}
	return t, t.checkLengths(int(f.NumRows()))
}

// rowsPerByte is more rows than a byte of a manifest can hold: keys differ from each other,
// and Zstandard makes no less than about a byte of one.
const rowsPerByte = 8

// checkFooter reports a footer that claims to be larger than the file: parquet-go makes room
// for it before it looks.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%w: a file of %d bytes", formats.ErrDamaged, size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("%w: a footer of %d bytes in a file of %d", formats.ErrDamaged, n, size)
	}
	return nil
}

// checkCounts reports row groups that claim more rows than the file can hold, or columns of
// another length.
func checkCounts(f *parquet.File) error {
	rows := int64(0)
	for _, g := range f.Metadata().RowGroups {
		if rows += g.NumRows; g.NumRows < 0 || rows < 0 || rows > rowsPerByte*f.Size() {
			return fmt.Errorf("%w: a file of %d bytes that claims to have %d rows", formats.ErrDamaged, f.Size(), rows)
		}
		for _, c := range g.Columns {
			m := c.MetaData
			if m.NumValues != g.NumRows || m.TotalCompressedSize < 0 || m.TotalCompressedSize > f.Size() {
				return fmt.Errorf("%w: a column of %d values in %d bytes for %d rows", formats.ErrDamaged, m.NumValues, m.TotalCompressedSize, g.NumRows)
			}
		}
	}
	if rows != f.NumRows() {
		return fmt.Errorf("%w: %d rows that claim to be %d", formats.ErrDamaged, rows, f.NumRows())
	}
	return nil
}

func (t *Table) readChunk(name string, chunk parquet.ColumnChunk) error {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = t.readPage(name, p)
		parquet.Release(p)
		if err != nil {
			return err
		}
	}
}

func (t *Table) readPage(name string, p parquet.Page) error {
	ints := map[string]*[]int64{
		"label": &t.label, "offset": &t.offset, "length": &t.length, "size": &t.size,
		"source_size": &t.srcSize, "source_mtime_ns": &t.mod,
	}
	smalls := map[string]*[]int32{"shard": &t.shard, "height": &t.h, "width": &t.w, "channels": &t.c}
	data := p.Data()
	switch name {
	case "rank":
		return nil // the row's own number
	case "key":
		return t.key.appendPage(data)
	case "source_path":
		return t.path.appendPage(data)
	case "checksum":
		return appendHashes(&t.sum, data)
	case "source_hash":
		return appendHashes(&t.hash, data)
	case "split":
		return t.split.appendPage(p)
	case "encoding":
		return t.enc.appendPage(p)
	}
	if c, ok := ints[name]; ok {
		*c = append(*c, data.Int64()...)
		return nil
	}
	if c, ok := smalls[name]; ok {
		*c = append(*c, data.Int32()...)
		return nil
	}
	for j, user := range t.columns {
		if name == userPrefix+user {
			return t.user[j].appendPage(data)
		}
	}
	return nil // a column of a later version or another tool
}

func (t *Table) checkLengths(n int) error {
	lengths := []int{
		len(t.key.end), len(t.path.end), len(t.split.index), len(t.enc.index), len(t.label), len(t.shard), len(t.offset),
		len(t.length), len(t.h), len(t.w), len(t.c), len(t.size), len(t.sum), len(t.hash), len(t.srcSize), len(t.mod),
	}
	for _, c := range t.user {
		lengths = append(lengths, len(c.end))
	}
	for _, l := range lengths {
		if l != n {
			return fmt.Errorf("read the manifest: %w: a column has %d values for %d rows", formats.ErrDamaged, l, n)
		}
	}
	return nil
}

// EncodeMeta is dataset.json.
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
		return nil, fmt.Errorf("%w: it has version %d, this one reads up to %d", formats.ErrNewer, m.Version, formats.Version)
	}
	if err := m.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("read dataset.json: %w: %w", formats.ErrDamaged, err)
	}
	for _, name := range m.Files {
		// All lie in one folder; what replaces the dataset removes them.
		if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
			return nil, fmt.Errorf("read dataset.json: %w: a file is named %q", formats.ErrDamaged, name)
		}
	}
	return m, nil
}
