package lmdb

import (
	"sort"
	"sync/atomic"

	"github.com/dsconv/dsconv/internal/guard"
)

// leafIndex finds the leaf page of a key by the key's index. A database has exactly the keys of
// the manifest, so the nodes of a leaf have consecutive indices. A search by key would probe
// scattered nodes at each level; this one uses arrays in the processor's cache and one node.
// The lowest branch pages are read when they are first needed.
//
// It is a hint: the caller compares the key, and searches by key if it differs or
// the page is damaged. It is safe for concurrent use.
type leafIndex struct {
	pages    *pages
	key      func(index int) string
	branches ranges
	leaves   []atomic.Pointer[ranges] // under each branch
}

// ranges are pages in the order of their first indices.
type ranges struct {
	first []int32
	page  []uint64
	end   int // the index after the last page's
}

// pageOf returns the position of the page that has the index, -1 if none has.
func (r *ranges) pageOf(index int) (k int) {
	return sort.Search(len(r.first), func(k int) bool { return int(r.first[k]) > index }) - 1
}

// limit returns the index after those of page k.
func (r *ranges) limit(k int) int {
	if k+1 < len(r.first) {
		return int(r.first[k+1])
	}
	return r.end
}

// newLeafIndex reads the tree down to the parents of its lowest branches. It returns nil if the
// tree is a single leaf or a page is damaged.
func newLeafIndex(p *pages, root uint64, n int, key func(index int) string) *leafIndex {
	depth, ok := p.depth(root)
	if !ok || depth < 2 {
		return nil
	}
	ix := &leafIndex{pages: p, key: key, branches: ranges{[]int32{0}, []uint64{root}, n}}
	for range depth - 2 {
		var below ranges
		for k := range ix.branches.page {
			children, ok := ix.children(&ix.branches, k)
			if !ok {
				return nil
			}
			below.first, below.page = append(below.first, children.first...), append(below.page, children.page...)
			if uint64(len(below.page)) > p.count {
				return nil // more children than pages: some pages share children
			}
		}
		below.end = n
		ix.branches = below
	}
	ix.leaves = make([]atomic.Pointer[ranges], len(ix.branches.page))
	return ix
}

// depth returns the number of levels of the tree under page no, including that page.
func (p *pages) depth(no uint64) (levels int, ok bool) {
	if no == noPage {
		return 0, false
	}
	for levels = 1; levels <= maxDepth; levels++ {
		t, err := p.treePage(no)
		if err != nil || t.leaf {
			return levels, err == nil
		}
		n, err := t.node(0)
		if err != nil {
			return levels, false
		}
		no = n.child()
	}
	return levels, false
}

// children reads page k of r, a branch, and returns its children.
func (ix *leafIndex) children(r *ranges, k int) (children ranges, ok bool) {
	t, err := ix.pages.treePage(r.page[k])
	if err != nil || t.leaf {
		return children, false
	}
	from := int(r.first[k])
	children = ranges{make([]int32, 0, t.nodes), make([]uint64, 0, t.nodes), r.limit(k)}
	for i := range t.nodes {
		n, err := t.node(i)
		if err != nil {
			return children, false
		}
		if i > 0 { // the first key of a branch stands for all smaller keys
			key := string(n.key())
			from += sort.Search(children.end-from, func(k int) bool { return ix.key(from+k) >= key })
		}
		children.first, children.page = append(children.first, int32(from)), append(children.page, n.child())
	}
	return children, true
}

// leaf returns the page of the key with that index and the node's number; ok is false if a page
// is damaged.
func (ix *leafIndex) leaf(index int) (page uint64, node int, ok bool) {
	b := ix.branches.pageOf(index)
	if b < 0 {
		return 0, 0, false
	}
	leaves := ix.leaves[b].Load()
	if leaves == nil {
		mark := guard.Now()
		read, ok := ix.children(&ix.branches, b)
		if !ok || !guard.Quiet(mark) { // only bytes of the file may be cached
			return 0, 0, false
		}
		leaves = &read
		ix.leaves[b].Store(leaves)
	}
	k := leaves.pageOf(index)
	if k < 0 {
		return 0, 0, false
	}
	return leaves.page[k], index - int(leaves.first[k]), true
}

// find returns the node with that index; ok is false unless its key is key.
func (ix *leafIndex) find(index int, key string) (n node, ok bool) {
	page, k, ok := ix.leaf(index)
	if !ok {
		return n, false
	}
	t, err := ix.pages.treePage(page)
	if err != nil || !t.leaf || k >= t.nodes {
		return n, false
	}
	at, end, ok := t.nodeBounds(k)
	if !ok || string(t.b[at+nodeHeader:end]) != key {
		return n, false
	}
	return node{page: page, b: t.b[at:]}, true
}
