package lmdb

import (
	"bytes"
	"errors"
)

const (
	// The kinds of pages, in their flags; the other bits are states of pages in LMDB's memory.
	kindBranch   = 0x01
	kindLeaf     = 0x02
	kindOverflow = 0x04
	kindMeta     = 0x08
	kindMask     = 0x6f // also LEAF2 and SUBP, which databases with duplicates have

	// MDB_node, the header of each node: size of the data, flags (in branches these two are the
	// child's page number), size of the key, key, data.
	nodeFlags   = 4 // uint16
	nodeKeySize = 6 // uint16
	nodeHeader  = 8

	nodeBig      = 0x01 // the data is the number of an overflow page
	nodeDatabase = 0x02 // the data is an MDB_db

	// maxDepth is the limit of LMDB's cursors.
	maxDepth = 32
)

// errNoKey means that a tree does not have the key.
var errNoKey = errors.New("the key is missing")

// pages are the pages of a data.mdb. Their content is not trusted: each page number, offset and
// size is compared with the page and the file before it is used.
type pages struct {
	data  []byte
	size  int    // of a page
	count uint64 // pages that both the file and the meta page have
}

func newPages(data []byte, m *meta) pages {
	p := pages{data: data, size: m.pageSize}
	if p.count = uint64(len(data) / p.size); m.last < p.count {
		p.count = m.last + 1
	}
	return p
}

// raw returns the bytes of page no.
func (p *pages) raw(no uint64) ([]byte, error) {
	if no >= p.count {
		return nil, damagedPage(no, "there are %d pages", p.count)
	}
	at := int(no) * p.size
	return p.data[at : at+p.size : at+p.size], nil
}

// page returns page no, which must be of one of the kinds.
func (p *pages) page(no uint64, kinds int) ([]byte, error) {
	b, err := p.raw(no)
	if err != nil {
		return nil, err
	}
	return b, checkPage(b, no, kinds)
}

// checkPage returns an error unless b, read as page no, is that page and of one of the kinds.
func checkPage(b []byte, no uint64, kinds int) error {
	if got := u64(b[pageNumber:]); got != no {
		return damagedPage(no, "it has the number %d", got)
	}
	if kind := u16(b[pageFlags:]) & kindMask; kind&kinds == 0 || kind&(kind-1) != 0 {
		return damagedPage(no, "it has the kind %#x, want %#x", kind, kinds)
	}
	return nil
}

// treePage is a branch or leaf page.
type treePage struct {
	no    uint64
	b     []byte
	upper int
	nodes int
	leaf  bool
}

func (p *pages) treePage(no uint64) (treePage, error) {
	b, err := p.raw(no)
	if err != nil {
		return treePage{}, err
	}
	return parseTreePage(b, no)
}

// parseTreePage parses b, read as page no.
func parseTreePage(b []byte, no uint64) (treePage, error) {
	if err := checkPage(b, no, kindBranch|kindLeaf); err != nil {
		return treePage{}, err
	}
	lower, upper := u16(b[pageLower:]), u16(b[pageUpper:])
	t := treePage{no: no, b: b, upper: upper, nodes: (lower - pageHeader) / 2, leaf: u16(b[pageFlags:])&kindLeaf != 0}
	if lower < pageHeader || lower > upper || upper > len(b) || lower%2 != 0 || t.nodes == 0 {
		return treePage{}, damagedPage(no, "the offsets of its nodes end at %d, the nodes begin at %d", lower, upper)
	}
	return t, nil
}

// node returns node i, whose header and key are within the page.
func (t *treePage) node(i int) (node, error) {
	at, _, ok := t.nodeBounds(i)
	if !ok {
		return node{}, damagedPage(t.no, "node %d is not within the page", i)
	}
	return node{page: t.no, b: t.b[at:]}, nil
}

// nodeBounds returns the offsets where node i begins and its key ends; ok is false if that is not
// within the page.
func (t *treePage) nodeBounds(i int) (at, end int, ok bool) {
	at = u16(t.b[pageHeader+2*i:])
	if at < t.upper || at > len(t.b)-nodeHeader {
		return 0, 0, false
	}
	end = at + nodeHeader + u16(t.b[at+nodeKeySize:])
	return at, end, end <= len(t.b)
}

// search returns the node of key in a leaf, or in a branch the node whose subtree has the key.
func (t *treePage) search(key []byte) (node, error) {
	// The first key of a branch stands for all smaller keys; its bytes have no meaning.
	low, high := 1, t.nodes-1
	if t.leaf {
		low = 0
	}
	for low <= high {
		mid := (low + high) / 2
		at, end, ok := t.nodeBounds(mid)
		if !ok {
			return t.node(mid)
		}
		c := bytes.Compare(key, t.b[at+nodeHeader:end])
		switch {
		case c == 0:
			return node{page: t.no, b: t.b[at:]}, nil
		case c > 0:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	if t.leaf {
		return node{}, errNoKey
	}
	return t.node(high)
}

// find returns the leaf node of key in the tree under page root. Keys are in LMDB's order,
// that of bytes.Compare.
func (p *pages) find(root uint64, key []byte) (node, error) {
	if root == noPage {
		return node{}, errNoKey
	}
	no := root
	for range maxDepth {
		t, err := p.treePage(no)
		if err != nil {
			return node{}, err
		}
		n, err := t.search(key)
		if err != nil || t.leaf {
			return n, err
		}
		no = n.child()
	}
	return node{}, damagedPage(root, "the tree under it has more than %d levels", maxDepth)
}

// node is a node of a page; b extends to the end of the page.
type node struct {
	page uint64
	b    []byte
}

func (n *node) flags() int    { return u16(n.b[nodeFlags:]) }
func (n *node) size() uint32  { return u32(n.b) }
func (n *node) dataAt() int   { return nodeHeader + u16(n.b[nodeKeySize:]) }
func (n *node) key() []byte   { return n.b[nodeHeader:n.dataAt()] }
func (n *node) child() uint64 { return uint64(u32(n.b)) | uint64(n.flags())<<32 }

// data returns the size bytes after the key.
func (n *node) data(size uint32) ([]byte, error) {
	b := n.b[n.dataAt():]
	if uint64(size) > uint64(len(b)) {
		return nil, damagedPage(n.page, "a value of %d bytes, but %d bytes are left", size, len(b))
	}
	return b[:size:size], nil
}

// value returns the value of a leaf node, in the page or in overflow pages.
func (p *pages) value(n *node) ([]byte, error) {
	no, b, err := n.valueLocation()
	if err != nil || no == noPage {
		return b, err
	}
	return p.overflow(no, n.size())
}

// valueLocation returns the page where the value of a leaf node begins, or noPage and the value
// itself if it is in the node.
func (n *node) valueLocation() (no uint64, value []byte, err error) {
	switch n.flags() {
	case 0:
		value, err = n.data(n.size())
		return noPage, value, err
	case nodeBig:
		b, err := n.data(8)
		if err != nil {
			return noPage, nil, err
		}
		// The result must not be noPage, which is too large for an overflow page anyway.
		return min(u64(b), noPage-1), nil, nil
	}
	return noPage, nil, damagedPage(n.page, "a node with the flags %#x", n.flags())
}

// overflow returns the value of that size that begins after the header of page no.
func (p *pages) overflow(no uint64, size uint32) ([]byte, error) {
	head, err := p.page(no, kindOverflow)
	if err != nil {
		return nil, err
	}
	n := uint64(u32(head[pagePages:]))
	if end := pageHeader + uint64(size); n > p.count-no || end > n*uint64(p.size) {
		return nil, damagedPage(no, "%d pages for a value of %d bytes", n, size)
	}
	at := int(no)*p.size + pageHeader
	return p.data[at : at+int(size) : at+int(size)], nil
}

// databaseRoot returns the root of the database that b, an MDB_db on page no, describes.
func databaseRoot(b []byte, no uint64) (uint64, error) {
	// Flags would mean another order of keys, or duplicates.
	if flags := u16(b[dbFlags:]); flags != 0 {
		return 0, damagedPage(no, "a database with the flags %#x", flags)
	}
	return u64(b[dbRoot:]), nil
}

// namedRoot returns the root of the named database, which is recorded in the main database under
// page main.
func (p *pages) namedRoot(main uint64, name string) (uint64, error) {
	n, err := p.find(main, []byte(name))
	if err != nil {
		return 0, err
	}
	if n.flags() != nodeDatabase || n.size() != dbLength {
		return 0, damagedPage(n.page, "the record does not describe a database")
	}
	b, err := n.data(dbLength)
	if err != nil {
		return 0, err
	}
	return databaseRoot(b, n.page)
}
