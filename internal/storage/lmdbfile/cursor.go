package lmdbfile

import (
	"bytes"
	"io"
	"slices"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Cursor visits the nodes of a tree's leaves in the order of their keys. It trusts no page, and ends in
// every tree: it goes maxDepth pages deep and visits no more pages than the file has. Its memory is a copy of
// each page from the root to the leaf.
type Cursor struct {
	*Pages
	mapping *mapped.Mapping
	path    []position // from the root to the leaf
	child   uint64     // the page to be visited next; noPage if there is none
	left    uint64     // pages that may still be visited
	last    []byte     // the last key, or the key of the branch's node after it
	atChild bool       // last is that of a branch's node, so that the next key may equal it
}

// position is a copy of a page and the number of its next node.
type position struct {
	treePage
	next int
	copy []byte
}

// NewCursor returns a cursor before the first key of a database.
func NewCursor(e *Environment, db int) *Cursor {
	return &Cursor{Pages: &e.Pages, mapping: e.Mapping, child: e.Databases[db].Root, left: e.Count}
}

// Next returns the next node of a leaf, valid until the next call; io.EOF after the last one. If a page is damaged, it returns that
// error once; the next call continues after the page and what is under it.
func (c *Cursor) Next() (Node, error) {
	for {
		if c.child != noPage {
			if err := c.enter(); err != nil {
				return Node{}, err
			}
		}
		if len(c.path) == 0 {
			return Node{}, io.EOF
		}
		top := &c.path[len(c.path)-1]
		if top.next == top.Nodes {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		n, err := c.step(top)
		if err != nil {
			c.path = c.path[:len(c.path)-1]
		}
		if err != nil || top.Leaf {
			return n, err
		}
		c.child = n.child()
	}
}

// enter visits the child.
func (c *Cursor) enter() error {
	no := c.child
	c.child = noPage
	if c.left == 0 || len(c.path) == maxDepth {
		c.path = c.path[:0]
		return DamagedPage(no, "the tree has no end")
	}
	c.left--
	b, err := c.raw(no)
	if err != nil {
		return err
	}
	depth := len(c.path)
	c.path = slices.Grow(c.path, 1)[:depth+1] // with the copy of the page that was there
	top := &c.path[depth]
	top.copy = slices.Grow(top.copy[:0], len(b))[:len(b)]
	err = guard.Read(b, func() error { copy(top.copy, b); return nil })
	if err == nil {
		top.treePage, err = parseTreePage(top.copy, no)
	}
	if err != nil {
		c.path = c.path[:depth]
		return err
	}
	if top.next = 0; !top.Leaf {
		c.prefetch(&top.treePage)
	}
	return nil
}

// prefetch requests the pages under a branch, which are scattered among those of the values.
func (c *Cursor) prefetch(t *treePage) {
	size := int64(c.Size)
	locations := make([]sampleindex.Location, 0, t.Nodes)
	for i := range t.Nodes {
		if n, err := t.Node(i); err == nil {
			locations = append(locations, sampleindex.Location{Offset: int64(n.child()) * size, Length: size})
		}
	}
	sharded.Prefetch([]*mapped.Mapping{c.mapping}, locations)
}

// step returns the next node of a page. Each key must come after the one before; the first one of a branch
// has no meaning.
func (c *Cursor) step(p *position) (Node, error) {
	i := p.next
	p.next++
	n, err := p.Node(i)
	if err != nil || i == 0 && !p.Leaf {
		return n, err
	}
	key := n.Key()
	if d := bytes.Compare(key, c.last); len(key) == 0 || d < 0 || d == 0 && !c.atChild {
		return n, DamagedPage(p.No, "the key %q comes after %q", key, c.last)
	}
	c.last, c.atChild = append(c.last[:0], key...), !p.Leaf
	return n, nil
}
