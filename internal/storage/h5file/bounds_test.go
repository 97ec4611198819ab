package h5file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

var le = binary.LittleEndian

// tree is a B-tree of three levels whose entries all lead to the one node of the next level, and those of the last to leaf.
func tree(entries int, leaf uint64) []byte {
	var b []byte
	size := 24 + 16*entries
	for depth := 2; depth >= 0; depth-- {
		b = append(b, "TREE"...)
		b = le.AppendUint16(append(b, 0, byte(depth)), uint16(entries))
		b = append(b, make([]byte, 16)...)
		child := uint64(size * (3 - depth))
		if depth == 0 {
			child = leaf
		}
		for range entries {
			b = le.AppendUint64(append(b, make([]byte, 8)...), child)
		}
	}
	return b
}

// A tree whose nodes are shared is walked as far as the file is large.
func TestSharedNodes(t *testing.T) {
	f := &File{data: tree(1000, 0)}
	leaves := 0
	err := f.walk(0, 0, 8, func([]byte, uint64) error { leaves++; return nil })
	if !errors.Is(err, formats.ErrDamaged) || leaves > len(f.data)/16 {
		t.Errorf("%d leaves in %d bytes: %v", leaves, len(f.data), err)
	}
	f = &File{data: tree(1, 7)}
	if err := f.walk(0, 0, 8, func(_ []byte, child uint64) error { leaves = int(child); return nil }); err != nil || leaves != 7 {
		t.Errorf("a tree of three nodes: %d, %v", leaves, err)
	}
}

// Members of a group that lie in shared nodes, or have long names that overlap, take no longer than others.
func TestSharedMembers(t *testing.T) {
	const members = 200
	node := le.AppendUint16([]byte("SNOD\x01\x00"), members)
	for i := range members {
		node = le.AppendUint64(le.AppendUint64(node, uint64(i)), 1)
		node = append(node, make([]byte, 24)...)
	}
	names := make([]byte, 50_000)
	for i := range names[1:] {
		names[i] = 'x'
	}
	const at = 3 * (24 + 16*100)
	for name, c := range map[string]struct {
		names []byte
		walk  bool
	}{
		"shared nodes": {make([]byte, members), true},
		"long names":   {names, false},
	} {
		f := &File{data: append(tree(100, at), node...)}
		left := len(f.data)
		visit := func(_ []byte, at uint64) error { return f.symbolNode(at, c.names, map[string]uint64{}, &left) }
		err := visit(nil, at)
		if c.walk {
			left = len(f.data)
			err = f.walk(2*(24+16*100), 0, 8, visit) // 100 times this node
		}
		if !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Texts of a heap are found without going through it for each; heaps that overlap are no heaps.
func TestHeaps(t *testing.T) {
	const texts = 1000
	heap := []byte("GCOL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for i := range texts {
		heap = append(le.AppendUint16(heap, uint16(texts-i)), make([]byte, 6)...)
		heap = le.AppendUint64(heap, 4)
		heap = append(heap, fmt.Sprintf("%04d\x00\x00\x00\x00", texts-i)...)
	}
	le.PutUint64(heap[8:], uint64(len(heap)))
	f := &File{data: heap}
	f.heaps.left = len(heap)
	for i := 1; i <= texts; i++ {
		if b, err := f.heapObject(0, i); err != nil || string(b) != fmt.Sprintf("%04d", i) {
			t.Fatalf("object %d: %q, %v", i, b, err)
		}
	}
	if _, err := f.heapObject(0, texts+1); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("an object that is not there: %v", err)
	}
	copy(heap[40:], heap[:16])
	le.PutUint64(heap[48:], uint64(len(heap)-40))
	if _, err := f.heapObject(40, 1); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("a heap in a heap: %v", err)
	}
}

// The chunk that was inflated last is kept even if it is larger than the cache: the rows in it follow each other.
func TestChunkCache(t *testing.T) {
	var c chunkCache
	c.put(1, make([]byte, 8))
	c.put(2, make([]byte, cachedBytes+1))
	if c.get(2) == nil || c.get(1) != nil || c.bytes != cachedBytes+1 {
		t.Errorf("a large chunk is not kept: %d bytes", c.bytes)
	}
	c.put(3, make([]byte, 8))
	if c.get(3) == nil || c.get(2) != nil || c.bytes != 8 {
		t.Errorf("a small chunk after a large one: %d bytes", c.bytes)
	}
}
