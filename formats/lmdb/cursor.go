package lmdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// cursor visits the nodes of a tree's leaves in the order of their keys. It trusts no page, and ends in
// every tree: it goes maxDepth pages deep and visits no more pages than the file has. Its memory is a copy of
// each page from the root to the leaf.
type cursor struct {
	*pages
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

func newCursor(e *environment, db int) *cursor {
	return &cursor{pages: &e.pages, mapping: e.mapping, child: e.databases[db].root, left: e.count}
}

// next returns the next node of a leaf, valid until the next call; io.EOF after the last one. If a page is damaged, it returns that
// error once; the next call continues after the page and what is under it.
func (c *cursor) next() (node, error) {
	for {
		if c.child != noPage {
			if err := c.enter(); err != nil {
				return node{}, err
			}
		}
		if len(c.path) == 0 {
			return node{}, io.EOF
		}
		top := &c.path[len(c.path)-1]
		if top.next == top.nodes {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		n, err := c.step(top)
		if err != nil {
			c.path = c.path[:len(c.path)-1]
		}
		if err != nil || top.leaf {
			return n, err
		}
		c.child = n.child()
	}
}

// enter visits the child.
func (c *cursor) enter() error {
	no := c.child
	c.child = noPage
	if c.left == 0 || len(c.path) == maxDepth {
		c.path = c.path[:0]
		return damagedPage(no, "the tree has no end")
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
	if top.next = 0; !top.leaf {
		c.prefetch(&top.treePage)
	}
	return nil
}

// prefetch requests the pages under a branch, which are scattered among those of the values.
func (c *cursor) prefetch(t *treePage) {
	size := int64(c.size)
	locations := make([]sampleindex.Location, 0, t.nodes)
	for i := range t.nodes {
		if n, err := t.node(i); err == nil {
			locations = append(locations, sampleindex.Location{Offset: int64(n.child()) * size, Length: size})
		}
	}
	sharded.Prefetch([]*mapped.Mapping{c.mapping}, locations)
}

// step returns the next node of a page. Each key must come after the one before; the first one of a branch
// has no meaning.
func (c *cursor) step(p *position) (node, error) {
	i := p.next
	p.next++
	n, err := p.node(i)
	if err != nil || i == 0 && !p.leaf {
		return n, err
	}
	key := n.key()
	if d := bytes.Compare(key, c.last); len(key) == 0 || d < 0 || d == 0 && !c.atChild {
		return n, damagedPage(p.no, "the key %q comes after %q", key, c.last)
	}
	c.last, c.atChild = append(c.last[:0], key...), !p.leaf
	return n, nil
}

// scan finds keys that are given in their order, and compares the tree's keys with them.
type scan struct {
	cursor
	found bool // node is the next one
	node  node
	gap   bool // damaged pages come before node
	// wrong is called with each damaged page, each key that is missing and each that was not asked for.
	// If it returns an error, the scan ends with it.
	wrong func(error) error
}

func newScan(e *environment, db int, wrong func(error) error) *scan {
	return &scan{cursor: *newCursor(e, db), wrong: wrong}
}

// locate returns the location of the value of key, which comes after those of earlier calls; zero if the
// tree lacks it.
func (s *scan) locate(key string) (at sampleindex.Location, err error) {
	for {
		more, err := s.advance()
		if err != nil {
			return at, err
		}
		if !more || string(s.node.key()) > key {
			if s.gap { // it may be there, and wrong knows what is damaged
				return at, nil
			}
			return at, s.wrong(fmt.Errorf("%w: the key %q is missing", formats.ErrDamaged, key))
		}
		if string(s.node.key()) == key {
			s.found, s.gap = false, false
			if at, err = s.location(&s.node); err != nil {
				err = s.wrong(err)
			}
			return at, err
		}
		if err := s.skip(); err != nil {
			return at, err
		}
	}
}

// finish is called after the last key.
func (s *scan) finish() error {
	more, err := s.advance()
	if more && err == nil {
		err = s.skip()
	}
	return err
}

// advance reads the next node unless there is one; more is false after the last one.
func (s *scan) advance() (more bool, err error) {
	for !s.found {
		n, err := s.next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err == nil {
			s.node, s.found = n, true
			break
		}
		s.gap = true
		if err := s.wrong(err); err != nil {
			return false, err
		}
	}
	return true, nil
}

// skip passes a node whose key nobody asked for.
func (s *scan) skip() error {
	s.found, s.gap = false, false
	return s.wrong(damagedPage(s.node.page, "the key %q is not one of the dataset's", s.node.key()))
}
