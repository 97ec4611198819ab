package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

func rowOf(i int) *Row {
	return &Row{
		Info: formats.Info{
			Key: fmt.Sprintf("class %d/ключ\n%07d", i%7, (i*7919)%1000003), Split: []string{"train", "val", ""}[i%3], Label: int64(i%7) - 1,
			Size: int64(i * 3), Encoding: []formats.Encoding{formats.JPEG, formats.PNG}[i%2], Shape: [3]int{i, 2 * i, 3},
			Checksum: [16]byte{byte(i), 1}, Columns: []string{fmt.Sprint(i), ""},
			Source: formats.Source{Path: fmt.Sprintf("p%d.jpg", i), Size: int64(i), ModTime: -int64(i), Hash: [16]byte{15: byte(i)}},
		},
		Location: sampleindex.Location{Shard: i % 5, Offset: int64(i) << 33, Length: int64(i)},
	}
}

// rowsOf gives n rows in the order of their keys; change is not called if it is nil.
func rowsOf(n int, change func(i int, r *Row)) []*Row {
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = rowOf(i)
		if change != nil {
			change(i, rows[i])
		}
	}
	slices.SortFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Key, b.Key) })
	return rows
}

var testColumns = []string{"a", "label"} // of rowOf

func encodeRows(t testing.TB, columns []string, history bool, rows []*Row) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, columns, history)
	for _, r := range rows {
		noError(t, w.Append(r))
	}
	noError(t, w.Close())
	return b.Bytes()
}

// readRows gives the rows that Read yields.
func readRows(b []byte, columns []string) (rows []*Row, err error) {
	err = Read(b, columns, func(r *Row) error {
		c := *r
		c.Key, c.Split, c.Encoding = strings.Clone(r.Key), strings.Clone(r.Split), formats.Encoding(strings.Clone(string(r.Encoding)))
		c.Source.Path, c.Columns = strings.Clone(r.Source.Path), nil
		for _, v := range r.Columns {
			c.Columns = append(c.Columns, strings.Clone(v))
		}
		rows = append(rows, &c)
		return nil
	})
	return rows, err
}

func checkEqualRows(t *testing.T, what string, got, want []*Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows of %d", what, len(got), len(want))
	}
	var a, b []byte
	for i := range want {
		a, b = sampleindex.AppendRow(a[:0], got[i], true), sampleindex.AppendRow(b[:0], want[i], true)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s: row %d: %s", what, i, gocmp.Diff(want[i], got[i]))
		}
	}
}

func TestRowsAreReadAsWritten(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3*manifestBatch + 1, manifestRowGroup + 5} {
		rows := rowsOf(n, nil)
		b := encodeRows(t, testColumns, false, rows)
		got, err := readRows(b, testColumns)
		noError(t, err)
		checkEqualRows(t, fmt.Sprint(n), got, rows)
		// A page of each column takes 7 MB.
		if a := allocated(func() { noError(t, Read(b, testColumns, func(*Row) error { return nil })) }); a > 16<<20 {
			t.Errorf("reading %d rows took %d bytes of memory", n, a)
		}
	}
}

// The files are those that de12ac5 wrote of the same rows: their SHA-256 begin so. Another version of
// parquet-go or of its Zstandard may change them on purpose.
func TestBytesStay(t *testing.T) {
	long := strings.Repeat("a long string, ", 1<<17)
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:8]) }
	for _, c := range []struct {
		what    string
		n       int
		columns []string
		history bool
		change  func(i int, r *Row)
		want    string
	}{
		{"no rows", 0, testColumns, false, nil, "12d6951acb9c0743"},
		{"a row", 1, testColumns, false, nil, "5536d74e19524d22"},
		{"batches", 3*manifestBatch + 1, testColumns, false, nil, "12e77b0dbb82f97a"},
		{"three row groups", 2*manifestRowGroup + 5, []string{"z.z", "A"}, false, nil, "564cde7033738a31"},
		{"no columns", 2000, nil, false, func(_ int, r *Row) { r.Columns = nil }, "73b091c2ec8e6089"},
		{"provenance", 2000, nil, true, func(i int, r *Row) {
			r.Columns, r.Provenance = nil, formats.Provenance{Edited: uint16(i % 3 << 14), Origin: uint16(i % 5)}
		}, "13a511038775a764"},
		{"long paths", manifestRowGroup + 3000, nil, false, func(i int, r *Row) {
			r.Columns, r.Source.Path = nil, long[:i%1000]
		}, "8d5490a461cb5395"},
		{"long values", 60, testColumns, false, func(i int, r *Row) {
			r.Columns = []string{long[:i*6000], long[:i%7*20000]}
		}, "a41a9a4e05f5f96d"},
	} {
		rows := rowsOf(c.n, c.change)
		b := encodeRows(t, c.columns, c.history, rows)
		if got := sum(b); got != c.want {
			t.Errorf("%s: %d bytes with the checksum %s, want %s", c.what, len(b), got, c.want)
		}
		got, err := readRows(b, c.columns)
		noError(t, err)
		checkEqualRows(t, c.what, got, rows)
	}
	for n, want := range map[int]string{1: "b97eb0df6c40e9ad", 3*manifestBatch + 1: "794c398cc543d7d3"} {
		b, err := EncodeRemoved(removedList(n))
		noError(t, err)
		if got := sum(b); got != want {
			t.Errorf("%d removed samples: %d bytes with the checksum %s, want %s", n, len(b), got, want)
		}
	}
}

// What the writer is given may be used for the next row at once.
func TestWriterKeepsNothing(t *testing.T) {
	rows := rowsOf(2000, nil)
	var b bytes.Buffer
	w := NewWriter(&b, testColumns, false)
	var memory []byte
	for _, r := range rows {
		memory = append(memory[:0], r.Key+r.Source.Path+r.Columns[0]...)
		view := *r
		view.Key, view.Source.Path = unsafeString(memory[:len(r.Key)]), unsafeString(memory[len(r.Key):][:len(r.Source.Path)])
		view.Columns = []string{unsafeString(memory[len(r.Key)+len(r.Source.Path):]), r.Columns[1]}
		noError(t, w.Append(&view))
		clear(memory)
		clear(view.Columns)
	}
	noError(t, w.Close())
	got, err := readRows(b.Bytes(), testColumns)
	noError(t, err)
	checkEqualRows(t, "views", got, rows)
}

func BenchmarkMillionRows(b *testing.B) {
	write := func(w io.Writer) {
		m := NewWriter(w, nil, false)
		for i := range 1_000_000 {
			r := rowOf(i)
			r.Key, r.Columns = fmt.Sprintf("train/n%08d/n%08d_%07d", i/1300, i/1300, i), nil
			r.Checksum = checksum.Hash([]byte(r.Key))
			noError(b, m.Append(r))
		}
		noError(b, m.Close())
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			write(io.Discard)
		}
	})
	var file bytes.Buffer
	write(&file)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			noError(b, Read(file.Bytes(), nil, func(*Row) error { return nil }))
		}
	})
}
