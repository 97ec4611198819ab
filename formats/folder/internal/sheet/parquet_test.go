package sheet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
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
			_, _ = ReadParquet(file) // an error or other text, no panic
		}
		must(t, os.WriteFile(file, whole[:at], 0o644))
		if _, err := ReadParquet(file); err == nil {
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
