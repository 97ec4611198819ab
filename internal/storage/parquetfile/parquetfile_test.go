package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/hostile"
)

// row has a column of each encoding that is read.
type row struct {
	Plain   string  `parquet:"plain,plain"`
	Dict    string  `parquet:"dict,dict"`
	Lengths string  `parquet:"lengths,delta,optional"`
	Deltas  int64   `parquet:"deltas,delta"`
	Small   int32   `parquet:"small,delta,optional"`
	Fixed   [3]byte `parquet:"fixed"`
	Float   float32 `parquet:"float"`
	Yes     bool    `parquet:"yes"`
}

// All encodings and codecs are read as they were written.
func TestEncodings(t *testing.T) {
	rows := make([]row, 3000)
	for i := range rows {
		name := fmt.Sprintf("images/%05d.jpg", i*i%3000)
		rows[i] = row{name, name[:9], name, int64(i*i) - 77, int32(-i), [3]byte{byte(i), 'x', 0}, float32(i) / 2, i%3 == 0}
		if i%7 == 0 {
			rows[i].Lengths, rows[i].Small = "", 0
		}
	}
	texts := parquet.NewSchema("x", parquet.Group{"t": parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)})
	for name, codec := range map[string]parquet.WriterOption{
		"none": parquet.Compression(&parquet.Uncompressed), "Snappy": parquet.Compression(&parquet.Snappy), "gzip": parquet.Compression(&parquet.Gzip),
		"Zstandard": parquet.Compression(&parquet.Zstd), "Brotli": parquet.Compression(&parquet.Brotli), "LZ4": parquet.Compression(&parquet.Lz4Raw),
	} {
		for version := 1; version <= 2; version++ {
			var b, shared bytes.Buffer
			err := parquet.Write(&b, rows, codec, parquet.DataPageVersion(version), parquet.PageBufferSize(5000))
			if err != nil {
				t.Fatal(err)
			}
			w := parquet.NewWriter(&shared, texts, codec, parquet.DataPageVersion(version))
			for i := range rows {
				err = errors.Join(err, w.Write(map[string]any{"t": rows[i].Plain}))
			}
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			same(t, name, b.Bytes(), map[string]func(r *row) (string, bool){
				"plain":   func(r *row) (string, bool) { return r.Plain, true },
				"dict":    func(r *row) (string, bool) { return r.Dict, true },
				"lengths": func(r *row) (string, bool) { return r.Lengths, r.Lengths != "" },
				"deltas":  func(r *row) (string, bool) { return fmt.Sprint(r.Deltas), true },
				"small":   func(r *row) (string, bool) { return fmt.Sprint(r.Small), r.Small != 0 },
				"fixed":   func(r *row) (string, bool) { return string(r.Fixed[:]), true },
				"float":   func(r *row) (string, bool) { return fmt.Sprint(r.Float), true },
				"yes":     func(r *row) (string, bool) { return fmt.Sprint(r.Yes), true },
			}, rows)
			same(t, name, shared.Bytes(), map[string]func(r *row) (string, bool){"t": func(r *row) (string, bool) { return r.Plain, true }}, rows)
		}
	}
}

// same compares all columns of a file with the rows.
func same(t *testing.T, name string, b []byte, columns map[string]func(r *row) (string, bool), rows []row) {
	t.Helper()
	f, err := Parse(name, b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Columns() {
		column, n := &f.Columns()[i], 0
		err := f.Each(i, func(at int, v *Values, k int) error {
			want, isThere := columns[column.Name()](&rows[at])
			if got, ok := v.Text(column, k); ok != isThere || ok && got != want || at != n {
				return fmt.Errorf("row %d, after %d: %q, want %q", at, n, got, want)
			}
			n++
			return nil
		})
		if err != nil || n != len(rows) || !column.IsRead() {
			t.Errorf("%s: column %s: %d rows, %v", name, column.Name(), n, err)
		}
	}
}

// A footer whose counts or names the file's bytes do not back is an error.
func TestForgedFooters(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = "one"
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"":                 {hostile.Parquet([]string{"a", "b"}, 1_000_000, "x"), ""},
		"2^31 rows":        {hostile.Parquet([]string{"a"}, 1<<31-1, "x"), "a file of this size"},
		"columns' name":    {hostile.Parquet(many, 10, "x"), `two columns are named "one"`},
		"a name with dots": {hostile.Parquet([]string{"a.b", "a.b"}, 10, "x"), "two columns"},
	} {
		f, err := Parse(name, c.b, Limits{})
		if (c.want == "") != (err == nil) || err != nil && (!errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && f.Rows() != 1_000_000 {
			t.Errorf("%s: %d rows", name, f.Rows())
		}
	}
}

// Texts that share their beginnings do not become far more than the page has.
func TestSharedTexts(t *testing.T) {
	long := strings.Repeat("x", 1000)
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("x", parquet.Group{"t": parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)}), parquet.PageBufferSize(1<<30))
	for range 100_000 {
		if err := w.Write(map[string]any{"t": long}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Parse("x", b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Each(0, func(int, *Values, int) error { return nil }); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
}

// FuzzFile: any bytes are read or an error.
func FuzzFile(f *testing.F) {
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Lz4Raw)} {
		var b bytes.Buffer
		if err := parquet.Write(&b, make([]row, 9), codec); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add(hostile.Parquet([]string{"a", "b"}, 100, "text"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		file, err := Parse("x", b, Limits{})
		if err != nil {
			return
		}
		for i := range min(len(file.Columns()), 20) {
			if file.Columns()[i].IsRead() {
				_ = file.Each(i, func(_ int, v *Values, k int) error { v.Text(&file.Columns()[i], k); return nil })
			}
		}
	})
}
