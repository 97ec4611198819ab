package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/internal/testing/hostile"
)

// A damaged Parquet file is an error.
func TestDamagedParquetLists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.parquet")
	type row struct {
		Path  string `parquet:"path"`
		Label string `parquet:"label"`
	}
	must(t, parquet.WriteFile(file, []row{{Path: "a.jpg"}, {Path: "b.jpg"}}))
	whole, err := os.ReadFile(file)
	must(t, err)
	for at := 0; at < len(whole); at += 5 {
		for _, bits := range []byte{0x80, 0xff} {
			b := slices.Clone(whole)
			b[at] ^= bits
			must(t, os.WriteFile(file, b, 0o644))
			_, _ = readParquet(file) // an error or other text, no panic
		}
		must(t, os.WriteFile(file, whole[:at], 0o644))
		if _, err := readParquet(file); err == nil {
			t.Errorf("cut to %d bytes: no error", at)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A small file does not become a table of gigabytes, whatever its rows share.
func TestForgedParquetLists(t *testing.T) {
	var wide []string
	for i := range 1000 {
		wide = append(wide, fmt.Sprint("c", i))
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"rows":       {hostile.Parquet([]string{"path", "label"}, 1_000_000, "a.jpg"), ""},
		"long texts": {hostile.Parquet([]string{"path"}, 1_000_000, strings.Repeat("x", 1<<16)), "more cells"},
		"columns":    {hostile.Parquet(wide, 1_000_000, "x"), "more cells"},
		"2^31 rows":  {hostile.Parquet([]string{"path"}, 1<<31-1, "x"), "a file of this size"},
		"no end":     {hostile.Parquet([]string{"path"}, 10, "x")[:100], "not a Parquet file"},
		"no columns": {hostile.Parquet(nil, 10, "x"), "no column"},
		"one name":   {hostile.Parquet([]string{"path", "path"}, 10, "x"), "two columns"},
		"no Thrift":  {[]byte("PAR1" + strings.Repeat("\x19\x1c", 80) + "\xa0\x00\x00\x00PAR1"), "damaged"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := parseParquet("l.parquet", c.b)
		runtime.ReadMemStats(&after)
		if (c.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "l.parquet: ")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && (len(s.Rows) != 1_000_000 || s.Lines[0] != 1 || !slices.Equal(s.Rows[999_999], []string{"a.jpg", "a.jpg"})) {
			t.Errorf("%s: %d rows", name, len(s.Rows))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 700<<20 {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
	}
}
