//go:build cgo

package sampleindex

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// TestPagesThatCannotBeRead are an error, though they were read before, and never zeros. When they can be
// read again, all is as before.
func TestPagesThatCannotBeRead(t *testing.T) {
	rows := someRows(rand.New(rand.NewPCG(1, 2)), 900, 1, 1)
	b := write(t, rows, []string{"a"}, 1)
	path := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := guard.Map(f, path, len(b), false)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Unmap(mapped)
	x, err := Open(mapped, path)
	if err != nil {
		t.Fatal(err)
	}
	last := len(rows) - 1
	calls := map[string]func() error{
		"At":    func() error { _, err := x.At(last); return err },
		"Info":  func() error { _, err := x.Info(last); return err },
		"KeyOf": func() error { _, err := x.KeyOf(last); return err },
		"Find":  func() error { _, _, err := x.Find(rows[last].Key); return err },
		"Fill":  func() error { return fill(x, last, new(formats.Sample)) },
	}
	for range 2 {
		for i := range rows {
			sameRow(t, x, i, &rows[i])
		}
		for _, size := range []int{0, pageSize} {
			if err := os.Truncate(path, int64(size)); err != nil {
				t.Fatal(err)
			}
			for name, call := range calls {
				if err := call(); !errors.As(err, new(*guard.ReadError)) {
					t.Errorf("%s of a file of %d bytes: %v", name, size, err)
				}
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				sameRow(t, x, i, &rows[i])
			}
		}
	}
}
