package hdf5_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
)

// small is an HDF5 file of h5py's: image files and texts in a heap, labels in chunks with gzip.
func small(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/others.h5")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readOthersIn stores a file and reads all of it.
func readOthersIn(t testing.TB, data []byte) (samples int, err error) {
	path := filepath.Join(t.TempDir(), "x.h5")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	_ = hdf5.Images{}.Match(path)
	ds, err := hdf5.Images{}.Open(path)
	if err != nil {
		return 0, err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range min(ds.Len(), 1000) {
		if err := errors.Join(ds.Read(i, &s), ds.(formats.Viewer).View(i, &s)); err != nil {
			return i, err
		}
	}
	return ds.Len(), nil
}

// TestForged: structures that lie are errors, end, and take little memory.
func TestForged(t *testing.T) {
	whole := small(t)
	if n, err := readOthersIn(t, whole); n != 12 || err != nil {
		t.Fatal(n, err)
	}
	at := func(sign string, n int) int {
		from := 0
		for ; n >= 0; n-- {
			from += 1 + strings.Index(string(whole[from:]), sign)
		}
		return from - 1
	}
	u16, u32, u64 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	trees := strings.Count(string(whole), "TREE")
	chunkTree := -1
	for n := range trees {
		if whole[at("TREE", n)+4] == 1 {
			chunkTree = at("TREE", n)
		}
	}
	// The dataspaces of the images, 12, and of the labels, 12 x 4.
	images := strings.Index(string(whole), string(binary.LittleEndian.AppendUint64(nil, 12)))
	labels := strings.Index(string(whole), string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 12), 4)))
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"a superblock alone":        {func(b []byte) []byte { return b[:96] }, "damaged"},
		"half":                      {func(b []byte) []byte { return b[:len(b)/2] }, ""},
		"another superblock":        {func(b []byte) []byte { b[8] = 9; return b }, "version 9"},
		"offsets of 4 bytes":        {func(b []byte) []byte { b[13] = 4; return b }, "offsets of 4 bytes"},
		"a root beyond the end":     {func(b []byte) []byte { u64(b[64:], 1<<40); return b }, "the address"},
		"a tree under itself":       {func(b []byte) []byte { b[chunkTree+5] = 1; u64(b[chunkTree+24+8+3*8:], uint64(chunkTree)); return b }, "B-tree"},
		"65535 entries":             {func(b []byte) []byte { u16(b[chunkTree+6:], 65535); return b }, ""},
		"a chunk of 4 GB":           {func(b []byte) []byte { u32(b[chunkTree+24:], 1<<32-1); return b }, "but the file has"},
		"a chunk of one byte":       {func(b []byte) []byte { u32(b[chunkTree+24:], 1); return b }, ""},
		"a billion rows":            {func(b []byte) []byte { u64(b[images:], 1<<30); return b }, "the limit"},
		"rows that are not there":   {func(b []byte) []byte { u64(b[images:], 90_000_000); return b }, "rows"},
		"large labels":              {func(b []byte) []byte { u64(b[labels+8:], 1<<25); return b }, ""},
		"an overflow of dimensions": {func(b []byte) []byte { u64(b[labels+8:], 1<<62); return b }, "impossible shape"},
		"a heap that is none":       {func(b []byte) []byte { b[at("GCOL", 0)] = 'X'; return b }, "heap"},
		"objects beyond their heap": {func(b []byte) []byte { u64(b[at("GCOL", 0)+16+8:], 1<<40); return b }, "heap"},
		"names that do not end":     {func(b []byte) []byte { u64(b[at("HEAP", 0)+8:], 1<<50); return b }, "heap"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readOthersIn(t, c.change(slices.Clone(whole)))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 512<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b := slices.Clone(whole)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		if _, err := readOthersIn(t, b); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	}
}

// FuzzFile: any change of a file is an error or is read, and ends.
func FuzzFile(f *testing.F) {
	whole := small(f)
	f.Add(uint32(64), []byte{1, 2})
	f.Add(uint32(800), []byte{3})
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		b := slices.Clone(whole)
		copy(b[int(at)%len(b):], with)
		if _, err := readOthersIn(t, b); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}
