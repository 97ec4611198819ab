package guard

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// opened is a file of so many pages, none of which is all zeros.
func opened(t testing.TB, pages int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.mdb")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, pages*pageSize), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// mapped is such a file, mapped.
func mapped(t testing.TB, pages int) (path string, b []byte) {
	t.Helper()
	f := opened(t, pages)
	path = f.Name()
	var err error
	if b, err = Map(f, path, pages*pageSize, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Unmap(b); err != nil {
			t.Error(err)
		}
	})
	return path, b
}

// use reads all of b.
func use(b []byte) error {
	sum := 0
	for _, x := range b {
		sum += int(x)
	}
	if sum < 0 {
		return io.EOF
	}
	return nil
}

// TestRead: pages that cannot be read are an error that names them; other pages are not.
func TestRead(t *testing.T) {
	path, b := mapped(t, 8)
	if err := Read(b, func() error { return use(b) }); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(3*pageSize)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := Read(b, func() error { return use(b) })
		unreadable := new(ReadError)
		if !errors.As(err, &unreadable) || !errors.Is(err, formats.ErrDamaged) || unreadable.File != path {
			t.Fatalf("a shortened file: %v", err)
		}
		if from := int64(3 * pageSize); unreadable.From != from || !strings.Contains(err.Error(), "data.mdb") {
			t.Errorf("%v, want bytes from %d on", err, from)
		}
		head := b[:3*pageSize]
		if err := Read(head, func() error { return use(head) }); err != nil {
			t.Errorf("what is left: %v", err)
		}
	}
}

// TestReadAgain: pages are read again once the disk can read them.
func TestReadAgain(t *testing.T) {
	path, b := mapped(t, 4)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := Read(b, func() error { return use(b) }); err == nil {
		t.Fatal("a file that was emptied could be read")
	}
	want := bytes.Repeat([]byte{9}, 4*pageSize)
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Read(b, func() error { return use(b) }); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Error("the file was mended, the memory still has something else")
	}
}

// TestZerosAreNoData: each of several concurrent readers of a page gets an error.
func TestZerosAreNoData(t *testing.T) {
	path, b := mapped(t, 64)
	for range 50 {
		if err := os.WriteFile(path, bytes.Repeat([]byte{7}, len(b)), 0o644); err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 8 {
			readers.Go(func() {
				to := make([]byte, len(b)/2)
				for range 4 {
					err := Read(b[len(b)/2:], func() error { copy(to, b[len(b)/2:]); return nil })
					if err == nil && bytes.IndexByte(to, 0) >= 0 {
						t.Error("zeros were taken for data")
					}
				}
			})
		}
		if err := os.Truncate(path, int64(len(b)/2)); err != nil {
			t.Fatal(err)
		}
		readers.Wait()
	}
}

// TestReplacedFile: a file is readable while it is mapped, though another was renamed over it.
func TestReplacedFile(t *testing.T) {
	path, b := mapped(t, 4)
	if err := os.WriteFile(path+".new", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if err := Read(b, func() error { return use(b) }); err != nil {
		t.Error(err)
	}
}

// TestManyMappings: mappings are created and removed, and each is guarded while it exists.
func TestManyMappings(t *testing.T) {
	f := opened(t, 1)
	path := f.Name()
	var all [3000][]byte
	for round := range 3 {
		for i := range all {
			if all[i] != nil && i%(round+2) != 0 {
				continue
			}
			if err := Unmap(all[i]); err != nil {
				t.Fatal(err)
			}
			var err error
			if all[i], err = Map(f, path, pageSize, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if err := Read(b, func() error { return use(b) }); !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%v, want %v", err, formats.ErrDamaged)
		}
		if err := Unmap(b); err != nil {
			t.Fatal(err)
		}
	}
	if events.Load() > 0 && replaced.Load() != 0 {
		t.Errorf("%d pages are replaced of files that are not mapped", replaced.Load())
	}
}

// TestMappingCost: one mapping more costs about the same however many there are, as those of many shards.
func TestMappingCost(t *testing.T) {
	f := opened(t, 1)
	once := func() (bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 8 {
			b, err := Map(f, f.Name(), pageSize, false)
			if err == nil {
				err = Unmap(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few := once()
	var all [20_000][]byte
	for i := range all {
		var err error
		if all[i], err = Map(f, f.Name(), pageSize, false); err != nil {
			t.Fatal(err)
		}
	}
	if many := once(); many > few+8*20_000 {
		t.Errorf("mapping beside %d others allocates %d bytes, beside none %d", len(all), many, few)
	}
	for _, b := range all {
		if err := Unmap(b); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDo: a panic is an error with its text and the source line, also if its value is an error.
func TestDo(t *testing.T) {
	if err := Do(func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Errorf("the function's own error: %v", err)
	}
	zero, none := 0, []int(nil)
	for want, f := range map[string]func(){
		"divide by zero":     func() { _ = 1 / zero },
		"index out of range": func() { none[zero]++ },
		"nil pointer":        func() { var p *int; *p++ },
		"a text":             func() { panic("a text") },
		"EOF":                func() { panic(io.EOF) },
	} {
		err := Do(func() error { f(); return nil })
		panicked := new(PanicError)
		if !errors.As(err, &panicked) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "guard_test.go") {
			t.Errorf("%s: %v", want, err)
		}
		if want == "EOF" && !errors.Is(err, io.EOF) {
			t.Errorf("%v is not %v", err, io.EOF)
		}
	}
}
