package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dsconv/dsconv/formats"
)

// madePage is a page of a made-up file.
type madePage struct {
	header format.PageHeader
	body   []byte
}

// madeFile is a Parquet file in parts that can be made to claim anything. Its chunks are in
// the order of the columns of its first row group.
type madeFile struct {
	meta   format.FileMetaData
	chunks [][]madePage
	names  map[string]int
}

// takeApart gives the parts of a file of one row group.
func takeApart(t testing.TB, b []byte) *madeFile {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	m := &madeFile{meta: *f.Metadata(), names: map[string]int{}}
	for i, c := range m.meta.RowGroups[0].Columns {
		d := c.MetaData
		m.names[d.PathInSchema[0]] = i
		from := d.DataPageOffset
		if d.DictionaryPageOffset > 0 {
			from = d.DictionaryPageOffset
		}
		var pages []madePage
		for r := b[from : from+d.TotalCompressedSize]; len(r) > 0; {
			var p madePage
			in := new(thrift.CompactProtocol).NewReaderFromBytes(r)
			if err := thrift.NewDecoder(in).Decode(&p.header); err != nil {
				t.Fatal(err)
			}
			r = r[in.BytesRead():]
			p.body = r[:p.header.CompressedPageSize]
			pages, r = append(pages, p), r[p.header.CompressedPageSize:]
		}
		m.chunks = append(m.chunks, pages)
	}
	return m
}

// column gives what is said of a column, and its last page.
func (m *madeFile) column(name string) (*format.ColumnMetaData, *madePage) {
	i := m.names[name]
	return &m.meta.RowGroups[0].Columns[i].MetaData, &m.chunks[i][len(m.chunks[i])-1]
}

// plain makes a column's last page one that is not compressed, with that body.
func (m *madeFile) plain(name string, body []byte) {
	_, p := m.column(name)
	p.body = body
	p.header.DataPageHeaderV2.V.IsCompressed = thrift.New(false)
	p.header.UncompressedPageSize, p.header.CompressedPageSize = int32(len(body)), int32(len(body))
}

// rows makes everything claim that there are n rows.
func (m *madeFile) rows(n int64) {
	m.meta.NumRows = n
	m.meta.RowGroups[0].NumRows = n
	for i := range m.chunks {
		m.meta.RowGroups[0].Columns[i].MetaData.NumValues = n
		m.chunks[i][len(m.chunks[i])-1].header.DataPageHeaderV2.V.NumValues = int32(n)
	}
}

func withFooter(data, footer []byte) []byte {
	b := append(bytes.Clone(data), footer...)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
}

func encodeThrift(t testing.TB, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// together writes the parts, with the places where they then are, as a file.
func (m *madeFile) together(t testing.TB) []byte {
	t.Helper()
	b := []byte("PAR1")
	for i, pages := range m.chunks {
		d := &m.meta.RowGroups[0].Columns[i].MetaData
		from := int64(len(b))
		d.DataPageOffset, d.DictionaryPageOffset = from, 0
		for _, p := range pages {
			b = append(append(b, encodeThrift(t, &p.header)...), p.body...)
		}
		d.TotalCompressedSize = int64(len(b)) - from
	}
	return withFooter(b, encodeThrift(t, &m.meta))
}

// allocated is the memory that f makes, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// memoryBound is the most that reading a manifest of n bytes may take if it is not one whose
// values truly repeat.
func memoryBound(n int) uint64 { return 64<<20 + 64*uint64(n) }

func checkRefused(t *testing.T, b []byte) {
	t.Helper()
	var err error
	if got := allocated(func() { err = Read(b, nil, func(*Row) error { return nil }) }); got > memoryBound(len(b)) {
		t.Errorf("%d bytes took %d of memory", len(b), got)
	}
	if !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("%v is not ErrDamaged", err)
	}
	t.Log(err)
}

// claims are what a file that is otherwise whole can be made to claim.
var claims = map[string]func(m *madeFile){
	"rows": func(m *madeFile) { m.rows(math.MaxInt32) },
	"rows, and lengths for them": func(m *madeFile) {
		m.rows(math.MaxInt32)
		m.plain("key", binary.AppendUvarint([]byte("\x80\x01\x04"), math.MaxInt32))
	},
	"rows beyond 32 bits": func(m *madeFile) { m.rows(1 << 50) },
	"a row group's rows":  func(m *madeFile) { m.meta.RowGroups[0].NumRows = 1 << 40 },
	"the file's rows":     func(m *madeFile) { m.meta.NumRows = 1 << 40 },
	"negative rows":       func(m *madeFile) { m.rows(-1) },
	"a page before compression": func(m *madeFile) {
		for _, name := range []string{"key", "label", "checksum", "split", "source_path"} {
			_, p := m.column(name)
			p.header.UncompressedPageSize = math.MaxInt32
		}
	},
	"a page of paths":   func(m *madeFile) { _, p := m.column("source_path"); p.header.UncompressedPageSize = maxPage },
	"a page of numbers": func(m *madeFile) { _, p := m.column("label"); p.header.UncompressedPageSize = 1 << 20 },
	"a negative page":   func(m *madeFile) { _, p := m.column("key"); p.header.UncompressedPageSize = -1 },
	"a page in the file": func(m *madeFile) {
		_, p := m.column("key")
		p.header.CompressedPageSize = math.MaxInt32
	},
	"a page's values": func(m *madeFile) { _, p := m.column("label"); p.header.DataPageHeaderV2.V.NumValues = math.MaxInt32 },
	"a page's levels": func(m *madeFile) {
		_, p := m.column("label")
		p.header.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1 << 30
	},
	"a dictionary's words": func(m *madeFile) {
		m.chunks[m.names["split"]][0].header.DictionaryPageHeader.V.NumValues = math.MaxInt32
	},
	"no dictionary":       func(m *madeFile) { m.chunks[m.names["split"]] = m.chunks[m.names["split"]][1:] },
	"two dictionaries":    func(m *madeFile) { i := m.names["split"]; m.chunks[i] = append(m.chunks[i][:1:1], m.chunks[i]...) },
	"another encoding":    func(m *madeFile) { _, p := m.column("label"); p.header.DataPageHeaderV2.V.Encoding = format.Plain },
	"another compression": func(m *madeFile) { c, _ := m.column("label"); c.Codec = format.Lz4Raw },
	"numbers":             func(m *madeFile) { m.plain("label", binary.AppendUvarint([]byte("\x80\x01\x04"), math.MaxInt32)) },
	"a block of numbers":  func(m *madeFile) { m.plain("label", []byte("\x80\x80\x80\x80\x08\x04\x0a\x00")) },
	"numbers of 255 bits": func(m *madeFile) { m.plain("label", []byte("\x80\x01\x04\x0a\x00\x00\xff\xff\xff\xff")) },
	"a number's bytes":    func(m *madeFile) { m.plain("label", []byte("\x80\x01\x04\x0a\x00\x00\x40\x40\x40\x40abc")) },
	"a run of words":      func(m *madeFile) { m.plain("split", binary.AppendUvarint([]byte{0}, math.MaxUint64-1)) },
	"groups of words":     func(m *madeFile) { m.plain("split", binary.AppendUvarint([]byte{0}, math.MaxUint64)) },
	"a word not there":    func(m *madeFile) { m.plain("split", []byte{8, 20, 200}) },
	"a string's bytes": func(m *madeFile) {
		m.plain("source_path", []byte("\x80\x01\x04\x0a\xfe\xff\xff\xff\x0f\x00\x00\x00\x00\x00abc"))
	},
	"negative strings": func(m *madeFile) { m.plain("source_path", []byte("\x80\x01\x04\x0a\x01\x00\x00\x00\x00\x00abc")) },
	"content of a frame": func(m *madeFile) {
		_, p := m.column("source_path")
		p.body = []byte("\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f\x01\x00\x00")
		p.header.CompressedPageSize = 12
	},
	"one chunk, many times": func(m *madeFile) {
		g := m.meta.RowGroups[0]
		m.meta.RowGroups = slices.Repeat([]format.RowGroup{g}, 1000)
		m.meta.NumRows *= 1000
	},
	"a column twice": func(m *madeFile) {
		g := &m.meta.RowGroups[0]
		g.Columns = append(g.Columns, g.Columns[0])
	},
}

func TestManifestThatClaimsTooMuch(t *testing.T) {
	whole := encodeRows(t, testColumns, false, rowsOf(10, nil))
	if got, err := readRows(takeApart(t, whole).together(t), nil); err != nil || len(got) != 10 {
		t.Fatalf("the parts put together again: %v", err)
	}
	for _, what := range slices.Sorted(maps.Keys(claims)) {
		t.Run(what, func(t *testing.T) {
			m := takeApart(t, whole)
			claims[what](m)
			checkRefused(t, m.together(t))
		})
	}
}

// footers are metadata that claims to be larger than it is, or nests without end.
var footers = map[string]string{
	"none":                "",
	"a list of 2^31":      "\x49\xfc\xff\xff\xff\xff\x07",
	"a skipped list":      "\x29\xfc\xff\xff\xff\xff\x07",
	"bytes":               "\x68\xff\xff\xff\xff\x07",
	"a map":               "\xfb\xff\xff\xff\xff\x07\x88",
	"a varint":            "\x36\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	"a list of columns":   "\x49\x1c\x19\xfc\xff\xff\xff\xff\x07",
	"nested structures":   "\xfc" + strings.Repeat("\x1c", 1<<16),
	"nested lists":        "\xf9" + strings.Repeat("\x19", 1<<16),
	"a list of nothing":   "\x29\xf0\xff\x01" + strings.Repeat("\x00", 1<<14),
	"row groups of 0 B":   "\x49\xfc\x80\x80\x01" + strings.Repeat("\x00", 1<<14),
	"a list of other":     "\x49\x15\x00\x00",
	"an unknown kind":     "\x2e",
	"a field without end": "\x06",
}

func TestManifestFooterThatIsNone(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(footers)) {
		t.Run(what, func(t *testing.T) { checkRefused(t, withFooter([]byte("PAR1"), []byte(footers[what]))) })
	}
	whole := encodeRows(t, testColumns, false, rowsOf(10, nil))
	for what, n := range map[string]uint32{"4 GB": 1<<32 - 1, "one byte more than there is": uint32(len(whole)) - 11} {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[len(b)-8:], n)
		if _, err := readRows(b, nil); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "a footer of") {
			t.Errorf("a footer of %s: %v", what, err)
		}
	}
	for n := range whole {
		if _, err := readRows(whole[:n], nil); !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
}

// Rows that compress to less than bytes are whole all the same: nothing is guessed from the
// file's size.
func TestManifestThatCompressesWell(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for what, c := range map[string]struct {
		n   int
		row func(i int, r *Row)
	}{
		"short consecutive keys":  {manifestRowGroup + 5_000, func(i int, r *Row) { r.Key = fmt.Sprintf("%06d", i) }},
		"keys of one letter":      {formats.MaxKey, func(i int, r *Row) { r.Key = strings.Repeat("a", i+1) }},
		"long keys, equal paths":  {3000, func(i int, r *Row) { r.Key, r.Source.Path = fmt.Sprintf("%0511d", i), strings.Repeat("p", 3000) }},
		"long values":             {2, func(i int, r *Row) { r.Key, r.Columns = fmt.Sprint(i), []string{long, long[i:]} }},
		"many long equal strings": {200, func(i int, r *Row) { r.Key, r.Columns = fmt.Sprintf("%04d", i), []string{long[:40_000], ""} }},
		"many words":              {3000, func(i int, r *Row) { r.Key, r.Split = fmt.Sprintf("%05d", i), fmt.Sprint(i) }},
	} {
		rows := rowsOf(c.n, func(i int, r *Row) {
			*r = *rowOf(3)
			r.Columns = []string{"", ""}
			c.row(i, r)
		})
		b := encodeRows(t, testColumns, false, rows)
		got, err := readRows(b, testColumns)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		t.Logf("%s: %d rows in %d bytes", what, c.n, len(b))
		checkEqualRows(t, what, got, rows)
	}
}

// parquet-go reads from the file what Read reads.
func TestManifestReadsAsParquetDoes(t *testing.T) {
	const n = 5000
	rows := rowsOf(n, func(i int, r *Row) {
		r.Key, r.Columns = fmt.Sprintf("%05d", i), nil
		r.Label = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(i) << (i % 64)}[i%6]
		r.Shape = [3]int{int(int32(uint32(i) << (i % 32))), []int{math.MaxInt32, math.MinInt32}[i/40%2], i / 100}
		r.Split = fmt.Sprint((i / 50 * i) % 300)
	})
	b := encodeRows(t, nil, false, rows)
	got, err := readRows(b, nil)
	noError(t, err)
	checkEqualRows(t, "all kinds of numbers", got, rows)
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	noError(t, err)
	r := parquet.NewGenericReader[any](f)
	defer r.Close()
	values := make([]parquet.Row, n)
	if k, err := r.ReadRows(values); k != n || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows: %v", k, err)
	}
	w := NewWriter(io.Discard, nil, false)
	for i, row := range values {
		w.row, w.rank = *got[i], int64(i)
		for c, v := range row {
			if want := w.table.value(&w.table.columns[c]); !parquet.Equal(v, want) {
				t.Fatalf("row %d: %s is %v, not %v", i, w.table.columns[c].name, want, v)
			}
		}
	}
}

func TestManifestWithAValueThatIsTooLong(t *testing.T) {
	r := rowOf(0)
	r.Columns = []string{strings.Repeat("x", maxString+1)}
	for _, err := range []error{NewWriter(io.Discard, []string{"caption"}, false).Append(r), r.CheckTexts([]string{"caption"})} {
		if !errors.Is(err, formats.ErrSchema) || !strings.Contains(err.Error(), "caption") {
			t.Errorf("%v", err)
		}
	}
}

// Keys that are invalid or not in order are damage, and no row is yielded after them.
func TestManifestWithBadKeys(t *testing.T) {
	for _, keys := range [][]string{{"b", "a"}, {"a", "a"}, {""}, {"a", "b/../c"}} {
		var rows []*Row
		for _, k := range keys {
			rows = append(rows, &Row{Info: formats.Info{Key: k}})
		}
		got, err := readRows(encodeRows(t, nil, false, rows), nil)
		if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "key") || len(got) != len(keys)-1 {
			t.Errorf("%q: %d rows, %v", keys, len(got), err)
		}
	}
}

// What yield returns ends the reading, as it is.
func TestReadStops(t *testing.T) {
	b, stop, n := encodeRows(t, testColumns, false, rowsOf(10, nil)), errors.New("stop"), 0
	if err := Read(b, testColumns, func(*Row) error { n++; return stop }); err != stop || n != 1 { //nolint:errorlint // not wrapped
		t.Errorf("%d rows, %v", n, err)
	}
	for _, columns := range [][]string{{"other"}, {"a", "a"}} {
		if _, err := readRows(b, columns); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), columns[0]) {
			t.Errorf("columns %q: %v", columns, err)
		}
	}
}

// FuzzManifest: any bytes are an error or a table whose rows can be read, and memory is made
// for what is there.
func FuzzManifest(f *testing.F) {
	for _, n := range []int{0, 1, 10, 3000} {
		f.Add(encodeRows(f, testColumns, false, rowsOf(n, nil)))
	}
	whole := encodeRows(f, testColumns, false, rowsOf(10, nil))
	for _, what := range slices.Sorted(maps.Keys(claims)) {
		m := takeApart(f, whole)
		claims[what](m)
		f.Add(m.together(f))
	}
	for _, what := range slices.Sorted(maps.Keys(footers)) {
		f.Add(withFooter([]byte("PAR1"), []byte(footers[what])))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var err error
		var last []byte
		if got := allocated(func() {
			err = Read(b, nil, func(r *Row) error {
				if r.Key <= string(last) {
					t.Fatalf("the key %q after %q", r.Key, last)
				}
				last = append(last[:0], r.Key...)
				return nil
			})
		}); got > memoryBound(len(b)) {
			t.Fatalf("%d bytes took %d of memory", len(b), got)
		}
		if err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
	})
}

// Strings of many megabytes that compress to nothing are refused before they are made room for.
func TestLongStrings(t *testing.T) {
	const each = 8 << 20
	n := maxText/each + 1
	whole := encodeRows(t, testColumns, false, rowsOf(n, nil))
	m := takeApart(t, whole)
	head := binary.AppendVarint([]byte{0x80, 1, 4, 1}, each) // one length
	content := slices.Concat(head, bytes.Repeat([]byte{'a'}, each))
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	m.plain("source_path", z.EncodeAll(content, nil))
	_, p := m.column("source_path")
	p.header.DataPageHeaderV2.V.IsCompressed = thrift.New(true)
	p.header.UncompressedPageSize = int32(len(content))
	p.header.DataPageHeaderV2.V.NumValues, p.header.DataPageHeaderV2.V.NumRows = 1, 1
	m.chunks[m.names["source_path"]] = slices.Repeat([]madePage{*p}, n-2)
	if _, err := readRows(m.together(t), nil); err == nil || strings.Contains(err.Error(), "strings of") {
		t.Errorf("fewer strings: %v", err)
	}
	m.chunks[m.names["source_path"]] = slices.Repeat([]madePage{*p}, n)
	checkRefused(t, m.together(t))
}
