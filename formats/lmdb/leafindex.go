package lmdb

import (
	"sort"
	"sync/atomic"

	"github.com/dsconv/dsconv/internal/guard"
)

// index finds the leaf that the key of a rank lies in. All keys of a database are those of
// the manifest, so that the nodes of a leaf are the ranks from its first on: what a search by
// key finds with a probe of scattered nodes at each level is found here in the processor's
// cache and in one node. The lowest branch pages are read when they are first needed.
//
// It is a hint: who uses it compares the key, and searches where it is another one or
// anything is wrong. It is safe for concurrent use.
type leafIndex struct {
	pages    *pages
	key      func(rank int) string
	branches ranges
	leaves   []atomic.Pointer[ranges] // under each branch
}

// ranges are pages in the order of the first ranks under them.
type ranges struct {
	first []int32
	page  []uint64
	end   int // the rank after the last page's
}

// of tells which page the rank is under; its number is -1 if it is under none.
func (r *ranges) pageOf(rank int) (k int) {
	return sort.Search(len(r.first), func(k int) bool { return int(r.first[k]) > rank }) - 1
}

// limit is the rank after those under page k.
func (r *ranges) limit(k int) int {
	if k+1 < len(r.first) {
		return int(r.first[k+1])
	}
	return r.end
}

// newIndex reads the tree down to the parents of its lowest branches. It is nil if the tree
// is a single leaf or what is read is damaged.
func newLeafIndex(p *pages, root uint64, n int, key func(rank int) string) *leafIndex {
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
				return nil // pages that share children: there are more ways than pages
			}
		}
		below.end = n
		ix.branches = below
	}
	ix.leaves = make([]atomic.Pointer[ranges], len(ix.branches.page))
	return ix
}

// depth is the number of levels under page no, itself counted.
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

// under reads page k of r, a branch, and gives its children.
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
		if i > 0 { // the first key of a branch stands for all that are smaller
			key := string(n.key())
			from += sort.Search(children.end-from, func(k int) bool { return ix.key(from+k) >= key })
		}
		children.first, children.page = append(children.first, int32(from)), append(children.page, n.child())
	}
	return children, true
}

// leaf gives the page that the key of the rank is in, if all is right, and the node's number.
func (ix *leafIndex) leaf(rank int) (page uint64, node int, ok bool) {
	b := ix.branches.pageOf(rank)
	if b < 0 {
		return 0, 0, false
	}
	leaves := ix.leaves[b].Load()
	if leaves == nil {
		mark := guard.Now()
		read, ok := ix.children(&ix.branches, b)
		if !ok || !guard.Quiet(mark) { // what is kept must be the file's
			return 0, 0, false
		}
		leaves = &read
		ix.leaves[b].Store(leaves)
	}
	k := leaves.pageOf(rank)
	if k < 0 {
		return 0, 0, false
	}
	return leaves.page[k], rank - int(leaves.first[k]), true
}

// find gives the node of the rank, whose key must be key.
func (ix *leafIndex) find(rank int, key string) (n node, ok bool) {
	page, k, ok := ix.leaf(rank)
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
