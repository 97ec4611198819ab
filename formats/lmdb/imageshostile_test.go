package lmdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
)

// others is an LMDB of 60 images, written by Python's lmdb: a branch, leaves, overflow pages.
func others(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/others.mdb")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readAll stores a data.mdb that is not new, and reads all of it.
func readAll(t testing.TB, data []byte) (samples int, err error) {
	path := filepath.Join(t.TempDir(), "x.mdb")
	past := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(path, data, 0o644), os.Chtimes(path, past, past)); err != nil {
		t.Fatal(err)
	}
	ds, err := lmdb.Images{}.Open(path)
	if err != nil {
		return 0, err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range ds.Len() {
		if err := errors.Join(ds.Read(i, &s), ds.(formats.Viewer).View(i, &s)); err != nil {
			return i, err
		}
	}
	return ds.Len(), nil
}

// pageAt returns the offset of the first page with that flag, which the pages 0 and 1 have not.
func pageAt(t testing.TB, b []byte, flag uint16) int {
	t.Helper()
	for at := 2 * 4096; at < len(b); at += 4096 {
		if binary.NativeEndian.Uint16(b[at+10:]) == flag {
			return at
		}
	}
	t.Fatalf("no page with the flag %#x", flag)
	return 0
}

// TestForged: trees that lie are errors that say which page.
func TestForged(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	whole := others(t)
	if n, err := readAll(t, whole); n != 60 || err != nil {
		t.Fatal(n, err)
	}
	branch, leaf, overflow := pageAt(t, whole, 1), pageAt(t, whole, 2), pageAt(t, whole, 4)
	u16, u32, u64 := binary.NativeEndian.PutUint16, binary.NativeEndian.PutUint32, binary.NativeEndian.PutUint64
	node := func(b []byte, page, i int) []byte {
		return b[page+int(binary.NativeEndian.Uint16(b[page+16+2*i:])):]
	}
	metas := func(b []byte, at int, x uint64) { u64(b[at:], x); u64(b[4096+at:], x) }
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"a branch under itself": {func(b []byte) []byte {
			u32(node(b, branch, 0), uint32(branch/4096))
			u16(node(b, branch, 0)[4:], 0)
			return b
		}, "page"},
		"a leaf twice":          {func(b []byte) []byte { copy(node(b, branch, 1)[:6], node(b, branch, 0)[:6]); return b }, "page"},
		"a root beyond the end": {func(b []byte) []byte { metas(b, 88+40, 1<<40); return b }, "page"},
		"duplicates":            {func(b []byte) []byte { u16(b[88+4:], 4); u16(b[4096+88+4:], 4); return b }, "flags"},
		"a page's number":       {func(b []byte) []byte { u64(b[leaf:], 99); return b }, "page"},
		"nodes beyond the page": {func(b []byte) []byte { u16(b[leaf+12:], 5000); return b }, "page"},
		"a node beyond":         {func(b []byte) []byte { u16(b[leaf+16:], 4095); return b }, "page"},
		"a value beyond":        {func(b []byte) []byte { u32(node(b, leaf, 0), 1<<30); return b }, "page"},
		"overflow beyond":       {func(b []byte) []byte { u32(b[overflow+12:], 1<<20); return b }, "page"},
		"half":                  {func(b []byte) []byte { return b[:len(b)/2] }, "page"},
		"meta pages alone":      {func(b []byte) []byte { return b[:2*4096] }, "page"},
		"nothing":               {func([]byte) []byte { return nil }, "page"},
		"no images":             {func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\xff\xd8\xff"), []byte("\x80\x04\x95")) }, "a pickle of Python"},
		"zeros after the metas": {func(b []byte) []byte { clear(b[2*4096:]); return b }, "page"},
	} {
		_, err := readAll(t, c.change(slices.Clone(whole)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		b := slices.Clone(whole)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		if _, err := readAll(t, b); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	}
}

// TestOwn: LMDBs that dsconv wrote, or is publishing, are not another program's.
func TestOwn(t *testing.T) {
	for _, beside := range []string{"x/dataset.json", "x/manifest.parquet", "x.partial/lock", ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x")
		for _, name := range []string{"x/data.mdb", beside} {
			if name == "" {
				continue
			}
			file := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, others(t), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if got := (lmdb.Images{}).Match(path); got != (beside == "") {
			t.Errorf("with %q, Match is %v", beside, got)
		}
	}
}

// FuzzTree: any change of a file is an error or is read, and ends.
func FuzzTree(f *testing.F) {
	whole := others(f)
	f.Setenv("XDG_CACHE_HOME", f.TempDir())
	f.Add(uint32(2*4096+12), []byte{1, 2})
	f.Add(uint32(88+40), []byte{3})
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		b := slices.Clone(whole)
		copy(b[int(at)%len(b):], with)
		if _, err := readAll(t, b); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}

// FuzzValue: a value of any bytes is a sample or an error.
func FuzzValue(f *testing.F) {
	whole := others(f)
	f.Setenv("XDG_CACHE_HOME", f.TempDir())
	first := bytes.Index(whole, []byte("\xff\xd8\xff"))
	for _, seed := range []string{"\x80\x02(K\x01K\x02t.", "\x08\x01\x10\x01\x18\x01\x22\x01a", "\x93NUMPY\x01\x00v\x00{'descr': '|u1'", "\xff\xd8\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		b := slices.Clone(whole)
		copy(b[first:min(len(b), first+150)], value)
		if _, err := readAll(t, b); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}
