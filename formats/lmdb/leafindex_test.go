//go:build cgo

package lmdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// indexed is a dataset of n keys, of whose values some lie in the leaves.
func indexed(t *testing.T, n int) *dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.lmdb")
	m := formats.Meta{Version: formats.Version, Format: "lmdb", Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
	w, err := Format{}.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		s := formats.Sample{Key: fmt.Sprintf("train/%03d/%06d", i/100, i), Values: []formats.Value{
			{Data: bytes.Repeat([]byte{byte(i)}, 10+i%7*i%3000), Encoding: formats.JPEG, Shape: []int{1, 1, 3}},
		}}
		s.Checksum = checksum.SampleChecksum(m.Schema, &s)
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	ds, err := Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ds.Close() })
	return ds.(*dataset)
}

// TestIndexFindsEveryKey: of trees of one to three levels each index is found at once, and
// where another key was expected nothing is.
func TestIndexFindsEveryKey(t *testing.T) {
	for _, n := range []int{0, 1, 30, 1000, 12_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := indexed(t, n)
			db := &d.images.databases[0]
			depth, _ := d.images.depth(db.root)
			if (db.leafIndex != nil) != (depth > 1) {
				t.Fatalf("%d levels, an index: %v", depth, db.leafIndex != nil)
			}
			if db.leafIndex == nil {
				return
			}
			for i := range n {
				got, ok := db.leafIndex.find(i, d.Manifest.Key(i))
				if !ok || string(got.key()) != d.Manifest.Key(i) {
					t.Fatalf("index %d of %d is not found", i, n)
				}
				if _, ok := db.leafIndex.find(i, d.Manifest.Key(i)+"?"); ok {
					t.Fatalf("index %d is found by another key", i)
				}
			}
			for _, i := range []int{-1, n, n + 1000} {
				if _, ok := db.leafIndex.find(i, "?"); ok {
					t.Errorf("index %d of %d is found", i, n)
				}
			}
		})
	}
}

// TestIndexOfOtherKeys: an index that was made by keys which the tree does not have finds
// nothing wrong.
func TestIndexOfOtherKeys(t *testing.T) {
	d := indexed(t, 1000)
	db := &d.images.databases[0]
	keys := make([]string, d.Len())
	for i := range keys {
		keys[i] = d.Manifest.Key(i) + "x"
	}
	slices.Sort(keys)
	ix := newLeafIndex(&d.images.pages, db.root, len(keys), func(index int) string { return keys[index] })
	for i, key := range keys {
		if n, ok := ix.find(i, key); ok {
			t.Fatalf("%q is found as %q", key, n.key())
		}
	}
}

// TestIndexOfADamagedTree: what the index cannot find is searched, so that the error is the
// search's.
func TestIndexOfADamagedTree(t *testing.T) {
	d := indexed(t, 1000)
	e, db := d.images, &d.images.databases[0]
	e.data = slices.Clone(e.data)
	page, _, ok := db.leafIndex.leaf(500)
	if !ok {
		t.Fatal("no leaf")
	}
	clear(e.data[int(page)*e.size:][:e.size])
	if _, err := e.getByIndex(0, 500, d.Manifest.Key(500)); err == nil {
		t.Error("a value is found in a page of zeros")
	}
	if _, err := e.getByIndex(0, 0, d.Manifest.Key(0)); err != nil {
		t.Errorf("a value in another leaf: %v", err)
	}
}

// TestIndexOfSharedChildren: branch pages all of whose nodes lead to one page below claim more
// pages at each level than there are.
func TestIndexOfSharedChildren(t *testing.T) {
	const size, levels, children = 4096, 12, 300
	b := make([]byte, size*(metaPages+levels))
	for level := range levels {
		no := metaPages + level
		p := b[no*size : (no+1)*size]
		binary.NativeEndian.PutUint64(p, uint64(no))
		list, kind := make([]testNode, children), kindBranch
		for i := range list {
			list[i] = testNode{size: uint32(no + 1)}
		}
		if level == levels-1 {
			list, kind = []testNode{{key: "k", size: 1, data: "v"}}, kindLeaf
		}
		binary.NativeEndian.PutUint16(p[pageFlags:], uint16(kind))
		nodes(p, list)
	}
	p := &pages{data: b, size: size, count: metaPages + levels}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ix := newLeafIndex(p, metaPages, 1, func(int) string { return "k" })
	runtime.ReadMemStats(&after)
	if ix != nil {
		t.Error("such a tree has an index")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes of file took %d of memory", len(b), n)
	}
}
