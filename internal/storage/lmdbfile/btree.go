package lmdbfile

import (
	"bytes"
	"errors"
	"math"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// The structures of a page.
const (
	// KindBranch and the others are the kinds of pages, in their flags; the other bits are states of pages in LMDB's memory.
	KindBranch   = 0x01
	KindLeaf     = 0x02
	KindOverflow = 0x04
	KindMeta     = 0x08
	kindMask     = 0x6f // also LEAF2 and SUBP, which databases with duplicates have

	// NodeFlags and the others are fields of MDB_node, the header of each node: size of the data, flags (in branches these two are the
	// child's page number), size of the key, key, data.
	NodeFlags   = 4 // uint16
	NodeKeySize = 6 // uint16
	NodeHeader  = 8

	NodeBig      = 0x01 // the data is the number of an overflow page
	NodeDatabase = 0x02 // the data is an MDB_db

	// maxDepth is the limit of LMDB's cursors.
	maxDepth = 32
)

// ErrNoKey means that a tree does not have the key.
var ErrNoKey = errors.New("the key is missing")

// Pages are the pages of a data.mdb. Their content is not trusted: each page number, offset and
// size is compared with the page and the file before it is used.
type Pages struct {
	Data  []byte
	Size  int    // of a page
	Count uint64 // pages that both the file and the meta page have
}

// newPages returns the pages of data that the meta page has.
func newPages(data []byte, m *Meta) Pages {
	p := Pages{Data: data, Size: m.PageSize}
	if p.Count = uint64(len(data) / p.Size); m.last < p.Count {
		p.Count = m.last + 1
	}
	return p
}

// raw returns the bytes of page no.
func (p *Pages) raw(no uint64) ([]byte, error) {
	if no >= p.Count {
		return nil, DamagedPage(no, "there are %d pages", p.Count)
	}
	at := int(no) * p.Size
	return p.Data[at : at+p.Size : at+p.Size], nil
}

// page returns page no, which must be of one of the kinds.
func (p *Pages) page(no uint64, kinds int) ([]byte, error) {
	b, err := p.raw(no)
	if err != nil {
		return nil, err
	}
	return b, checkPage(b, no, kinds)
}

// checkPage returns an error unless b, read as page no, is that page and of one of the kinds.
func checkPage(b []byte, no uint64, kinds int) error {
	if got := U64(b[pageNumber:]); got != no {
		return DamagedPage(no, "it has the number %d", got)
	}
	if kind := U16(b[PageFlags:]) & kindMask; kind&kinds == 0 || kind&(kind-1) != 0 {
		return DamagedPage(no, "it has the kind %#x, want %#x", kind, kinds)
	}
	return nil
}

// treePage is a branch or leaf page.
type treePage struct {
	No    uint64
	B     []byte
	Upper int
	Nodes int
	Leaf  bool
}

// treePage returns page no, which must be a branch or a leaf.
func (p *Pages) treePage(no uint64) (treePage, error) {
	b, err := p.raw(no)
	if err != nil {
		return treePage{}, err
	}
	return parseTreePage(b, no)
}

// parseTreePage parses b, read as page no.
func parseTreePage(b []byte, no uint64) (treePage, error) {
	if err := checkPage(b, no, KindBranch|KindLeaf); err != nil {
		return treePage{}, err
	}
	lower, upper := U16(b[PageLower:]), U16(b[PageUpper:])
	t := treePage{No: no, B: b, Upper: upper, Nodes: (lower - PageHeader) / 2, Leaf: U16(b[PageFlags:])&KindLeaf != 0}
	if lower < PageHeader || lower > upper || upper > len(b) || lower%2 != 0 || t.Nodes == 0 {
		return treePage{}, DamagedPage(no, "the offsets of its nodes end at %d, the nodes begin at %d", lower, upper)
	}
	return t, nil
}

// Node returns node i, whose header and key are within the page.
func (t *treePage) Node(i int) (Node, error) {
	at, _, ok := t.nodeBounds(i)
	if !ok {
		return Node{}, DamagedPage(t.No, "node %d is not within the page", i)
	}
	return Node{Page: t.No, b: t.B[at:]}, nil
}

// nodeBounds returns the offsets where node i begins and its key ends; ok is false if that is not
// within the page.
func (t *treePage) nodeBounds(i int) (at, end int, ok bool) {
	at = U16(t.B[PageHeader+2*i:])
	if at < t.Upper || at > len(t.B)-NodeHeader {
		return 0, 0, false
	}
	end = at + NodeHeader + U16(t.B[at+NodeKeySize:])
	return at, end, end <= len(t.B)
}

// search returns the node of key in a leaf, or in a branch the node whose subtree has the key.
func (t *treePage) search(key []byte) (Node, error) {
	// The first key of a branch stands for all smaller keys; its bytes have no meaning.
	low, high := 1, t.Nodes-1
	if t.Leaf {
		low = 0
	}
	for low <= high {
		mid := (low + high) / 2
		at, end, ok := t.nodeBounds(mid)
		if !ok {
			return t.Node(mid)
		}
		c := bytes.Compare(key, t.B[at+NodeHeader:end])
		switch {
		case c == 0:
			return Node{Page: t.No, b: t.B[at:]}, nil
		case c > 0:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	if t.Leaf {
		return Node{}, ErrNoKey
	}
	return t.Node(high)
}

// Find returns the leaf node of key in the tree under page root. Keys are in LMDB's order,
// that of bytes.Compare.
func (p *Pages) Find(root uint64, key []byte) (Node, error) {
	if root == noPage {
		return Node{}, ErrNoKey
	}
	no := root
	for range maxDepth {
		t, err := p.treePage(no)
		if err != nil {
			return Node{}, err
		}
		n, err := t.search(key)
		if err != nil || t.Leaf {
			return n, err
		}
		no = n.child()
	}
	return Node{}, DamagedPage(root, "the tree under it has more than %d levels", maxDepth)
}

// Node is a node of a page; b extends to the end of the page.
type Node struct {
	Page uint64
	b    []byte
}

// flags returns the node's flags.
func (n *Node) flags() int { return U16(n.b[NodeFlags:]) }

// IsDatabase reports whether the value is that of a named database.
func (n *Node) IsDatabase() bool { return n.flags()&NodeDatabase != 0 }

// size returns the bytes of the value.
func (n *Node) size() uint32 { return u32(n.b) }
func (n *Node) dataAt() int  { return NodeHeader + U16(n.b[NodeKeySize:]) }

// Key returns the key, in the page's memory.
func (n *Node) Key() []byte { return n.b[NodeHeader:n.dataAt()] }

// child returns the page under a node of a branch.
func (n *Node) child() uint64 { return uint64(u32(n.b)) | uint64(n.flags())<<32 }

// data returns the size bytes after the key.
func (n *Node) data(size uint32) ([]byte, error) {
	b := n.b[n.dataAt():]
	if uint64(size) > uint64(len(b)) {
		return nil, DamagedPage(n.Page, "a value of %d bytes, but %d bytes are left", size, len(b))
	}
	return b[:size:size], nil
}

// Value returns the value of a leaf node, in the page or in overflow pages.
func (p *Pages) Value(n *Node) ([]byte, error) {
	no, b, err := n.valueLocation()
	if err != nil || no == noPage {
		return b, err
	}
	return p.overflow(no, n.size())
}

// valueLocation returns the page where the value of a leaf node begins, or noPage and the value
// itself if it is in the node.
func (n *Node) valueLocation() (no uint64, value []byte, err error) {
	switch n.flags() {
	case 0:
		value, err = n.data(n.size())
		return noPage, value, err
	case NodeBig:
		b, err := n.data(8)
		if err != nil {
			return noPage, nil, err
		}
		// The result must not be noPage, which is too large for an overflow page anyway.
		return min(U64(b), noPage-1), nil, nil
	}
	return noPage, nil, DamagedPage(n.Page, "a node with the flags %#x", n.flags())
}

// overflow returns the value of that size that begins after the header of page no.
func (p *Pages) overflow(no uint64, size uint32) ([]byte, error) {
	head, err := p.page(no, KindOverflow)
	if err != nil {
		return nil, err
	}
	n := uint64(u32(head[PagePages:]))
	if end := PageHeader + uint64(size); n > p.Count-no || end > n*uint64(p.Size) {
		return nil, DamagedPage(no, "%d pages for a value of %d bytes", n, size)
	}
	at := int(no)*p.Size + PageHeader
	return p.Data[at : at+int(size) : at+int(size)], nil
}

// databaseRoot returns the root of the database that b, an MDB_db on page no, describes.
func databaseRoot(b []byte, no uint64) (uint64, error) {
	// flags would mean another order of keys, or duplicates.
	if flags := U16(b[DBFlags:]); flags != 0 {
		return 0, DamagedPage(no, "a database with the flags %#x", flags)
	}
	return U64(b[DBRoot:]), nil
}

// namedRoot returns the root of the named database, which is recorded in the main database under
// page main.
func (p *Pages) namedRoot(main uint64, name string) (uint64, error) {
	n, err := p.Find(main, []byte(name))
	if err != nil {
		return 0, err
	}
	if n.flags() != NodeDatabase || n.size() != dbLength {
		return 0, DamagedPage(n.Page, "the record does not describe a database")
	}
	b, err := n.data(dbLength)
	if err != nil {
		return 0, err
	}
	return databaseRoot(b, n.Page)
}

// Location returns where the value of a leaf node is in the file. overflow pages are not touched.
func (p *Pages) Location(n *Node) (sampleindex.Location, error) {
	size := int64(n.size())
	no, _, err := n.valueLocation()
	if err != nil {
		return sampleindex.Location{}, err
	}
	if no == noPage {
		at := int64(n.Page+1)*int64(p.Size) - int64(len(n.b)) + int64(n.dataAt())
		return sampleindex.Location{Offset: at, Length: size}, nil
	}
	if rest := p.Count - min(no, p.Count); PageHeader+uint64(size) > rest*uint64(p.Size) {
		return sampleindex.Location{}, DamagedPage(no, "a value of %d bytes cannot begin here, since there are %d pages", size, p.Count)
	}
	return sampleindex.Location{Offset: int64(no)*int64(p.Size) + PageHeader, Length: size}, nil
}

// pageOf returns the page of the value at that location, and the value's offset in it. A value without
// bytes may be at the page's end.
func (p *Pages) pageOf(at sampleindex.Location) (no uint64, offset int) {
	no = uint64(at.Offset-1) / uint64(p.Size)
	return no, int(uint64(at.Offset) - no*uint64(p.Size))
}

// ValueAt returns the value at the location that was recorded for key. What comes before it must be the header
// of a leaf's node with that key and length, or of overflow pages for that length.
func (p *Pages) ValueAt(at sampleindex.Location, key []byte) ([]byte, error) {
	no, offset := p.pageOf(at)
	if at.Length < 0 || at.Length > math.MaxUint32 {
		return nil, DamagedPage(no, "no value has %d bytes", at.Length)
	}
	if offset == PageHeader { // in a leaf, nodes come after the page's header
		return p.overflow(no, uint32(at.Length))
	}
	b, err := p.raw(no)
	if err != nil {
		return nil, err
	}
	begin := offset - len(key) - NodeHeader
	if begin < PageHeader {
		return nil, DamagedPage(no, "there is no value %d bytes into it", offset)
	}
	n := Node{Page: no, b: b[begin:]}
	if n.flags() != 0 || int64(n.size()) != at.Length || n.dataAt() != NodeHeader+len(key) || !bytes.Equal(n.Key(), key) {
		return nil, DamagedPage(no, "the value %d bytes into it is not that of the key", offset)
	}
	return n.data(n.size())
}
