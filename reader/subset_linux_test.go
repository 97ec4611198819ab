//go:build cgo

package reader

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// TestAListThatCannotBeRead is an error that names its file, and never other indices.
func TestAListThatCannotBeRead(t *testing.T) {
	const n = 10_000
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(3*i))
	}
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
	list := unsafe.Slice((*int32)(unsafe.Pointer(&mapped[0])), n)
	s, err := pickOf(3*n, list)
	if err != nil || s.At(n-1) != 3*(n-1) {
		t.Fatalf("%v, the last index is %d", err, s.At(n-1))
	}
	if err := os.Truncate(path, int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	mark := guard.Now()
	err = guard.Do(func() error { _ = s.At(n - 1); return s.Check(mark) })
	if unreadable := new(guard.ReadError); !errors.As(err, &unreadable) || unreadable.File != path {
		t.Errorf("an index that cannot be read: %v", err)
	}
	if err := s.CheckAt(mark, n-1); !errors.As(err, new(*guard.ReadError)) {
		t.Errorf("the index that cannot be read: %v", err)
	}
	if err := s.CheckAt(mark, 0); err != nil {
		t.Errorf("an index that can be read: %v", err)
	}
	if _, err := pickOf(3*n, list); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("a list that cannot be read: %v", err)
	}
}
