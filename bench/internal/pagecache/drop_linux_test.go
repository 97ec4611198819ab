package pagecache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// file writes a file of n pages.
func file(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, n*os.Getpagesize()-1), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDrop(t *testing.T) {
	files := []string{file(t, 40), file(t, 1)}
	in, err := resident(t.Context(), files)
	if err != nil || in != 1 {
		t.Fatalf("%g of files that were just written are in memory: %v", in, err)
	}
	left, err := Drop(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if left == 1 {
		t.Skip("this file system keeps files in memory: nothing can be dropped")
	}
	if left != 0 {
		t.Errorf("%g of the files are in memory after they were dropped", left)
	}
	if _, err := os.ReadFile(files[0]); err != nil {
		t.Fatal(err)
	}
	if in, err := resident(t.Context(), files[:1]); err != nil || in != 1 {
		t.Errorf("%g of a file that was just read is in memory: %v", in, err)
	}
}

// Pages that somebody has mapped and touched cannot be dropped, and Drop says so.
func TestDropOfAMappedFile(t *testing.T) {
	path := file(t, 40)
	m, err := mapped.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	sum := 0
	for i := 0; i < len(m.Data); i += os.Getpagesize() {
		sum += int(m.Data[i])
	}
	left, err := Drop(t.Context(), []string{path})
	if err != nil || left == 0 || sum != 0 {
		t.Errorf("%g of a mapped file is left: %v", left, err)
	}
}

func TestDropErrors(t *testing.T) {
	if _, err := Drop(t.Context(), []string{filepath.Join(t.TempDir(), "missing")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Drop(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := Drop(t.Context(), nil); left != 0 || err != nil {
		t.Errorf("no files: %g left, %v", left, err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if left, err := Drop(t.Context(), []string{empty}); left != 0 || err != nil {
		t.Errorf("empty file: %g left, %v", left, err)
	}
}
