//go:build cgo

package lmdb

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
)

// The LMDB library trusts every byte of data.mdb, so a damaged or malicious file in a staging
// folder could make it access any memory. Before the library opens such a file, the code here
// reads all pages that the library may read: those of the list of free pages and of each
// database. It makes the checks that the library omits, or makes by ending the process.

const (
	// freeFlags are the flags of LMDB's own list of free pages, whose keys are transaction
	// numbers.
	freeFlags = 0x08
	maxKey    = 511
)

// Fields of an MDB_db that describe its tree.
const (
	dbDepth    = 6  // uint16
	dbBranches = 8  // uint64
	dbLeaves   = 16 // uint64
	dbOverflow = 24 // uint64
	dbEntries  = 32 // uint64
)

// validate reports why LMDB must not open data, the content of a data.mdb, with those meta pages.
// names are its databases, which have that many entries each; without names, the main database
// has them.
func validate(data []byte, metas [lmdbfile.MetaPages][]byte, pageSize int, names []string, entries int) error {
	m, err := validateMetas(data, metas, pageSize)
	if err != nil {
		return err
	}
	c := &validator{Pages: lmdbfile.NewPages(data, &m), used: make(pageSet, m.Last/64+1), txn: m.Txn, names: names}
	c.used.add(0)
	c.used.add(1)
	free := metas[m.No][lmdbfile.MetaFree:]
	if err := c.tree(m.No, free[:lmdbfile.DBLength], kindFreeList, 0); err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	main, want := kindValues, uint64(entries)
	if len(names) > 0 {
		main, want = kindDatabases, uint64(len(names))
		c.entries = uint64(entries)
	}
	return c.tree(m.No, m.Main, main, want)
}

// validateMetas checks both meta pages and returns that of the last transaction.
func validateMetas(data []byte, metas [lmdbfile.MetaPages][]byte, pageSize int) (lmdbfile.Meta, error) {
	var newest lmdbfile.Meta
	for i, b := range metas {
		m, err := lmdbfile.ParseMetaPage(b, i)
		if err != nil {
			return lmdbfile.Meta{}, err
		}
		switch {
		case m.PageSize != pageSize:
			return lmdbfile.Meta{}, lmdbfile.DamagedPage(m.No, "it was written with pages of %d bytes, this machine has pages of %d: resume on a machine like the first", m.PageSize, pageSize)
		case lmdbfile.U16(b[lmdbfile.PageFlags:]) != lmdbfile.KindMeta || lmdbfile.U16(b[lmdbfile.MetaFree+lmdbfile.DBFlags:]) != freeFlags || lmdbfile.U64(b[lmdbfile.MetaAddress:]) != 0:
			return lmdbfile.Meta{}, lmdbfile.DamagedPage(m.No, "it has flags or a map address that dsconv does not set")
		case m.Last < lmdbfile.MetaPages-1 || m.Last >= uint64(len(data)/pageSize):
			return lmdbfile.Meta{}, lmdbfile.DamagedPage(m.No, "the last page would be %d in a file of %d bytes", m.Last, len(data))
		case lmdbfile.U64(b[lmdbfile.MetaMapSize:]) > 1<<46:
			return lmdbfile.Meta{}, lmdbfile.DamagedPage(m.No, "impossible map size of %d bytes", lmdbfile.U64(b[lmdbfile.MetaMapSize:]))
		}
		if i == 0 || m.Txn > newest.Txn {
			newest = m
		}
	}
	return newest, nil
}

// The kinds of values in the leaves of a tree.
const (
	kindValues = iota
	kindDatabases
	kindFreeList
)

// validator reads all trees of a file. Each page may occur only once.
type validator struct {
	lmdbfile.Pages
	used    pageSet
	txn     uint64
	names   []string
	entries uint64 // of each named database
}

// pageSet has a bit for each page: a file of 10 TB has 2.4 billion pages.
type pageSet []uint64

// add adds page no and reports whether it was new.
func (s pageSet) add(no uint64) bool {
	word, bit := &s[no/64], uint64(1)<<(no%64)
	added := *word&bit == 0
	*word |= bit
	return added
}

// treeCheck counts the pages and entries of one tree while it is read.
type treeCheck struct {
	*validator
	holds                               int
	depth                               int
	branches, leaves, overflow, entries uint64
	last                                []byte // key
}

// tree checks the tree that db, an MDB_db on page no, describes.
func (c *validator) tree(no uint64, db []byte, holds int, entries uint64) error {
	if flags := lmdbfile.U16(db[lmdbfile.DBFlags:]); holds != kindFreeList && flags != 0 {
		return lmdbfile.DamagedPage(no, "a database with the flags %#x", flags)
	}
	t := treeCheck{validator: c, holds: holds, depth: lmdbfile.U16(db[dbDepth:])}
	if root := lmdbfile.U64(db[lmdbfile.DBRoot:]); root != lmdbfile.NoPage {
		if t.depth == 0 || t.depth > lmdbfile.MaxDepth {
			return lmdbfile.DamagedPage(no, "a tree of %d levels", t.depth)
		}
		if err := t.page(root, 1); err != nil {
			return err
		}
	} else if t.depth != 0 {
		return lmdbfile.DamagedPage(no, "a tree of %d levels without a page", t.depth)
	}
	got := [...]uint64{t.branches, t.leaves, t.overflow, t.entries}
	recorded := [...]uint64{lmdbfile.U64(db[dbBranches:]), lmdbfile.U64(db[dbLeaves:]), lmdbfile.U64(db[dbOverflow:]), lmdbfile.U64(db[dbEntries:])}
	if got != recorded {
		return lmdbfile.DamagedPage(no, "branches, leaves, overflow pages and entries: found %d, recorded %d", got, recorded)
	}
	if holds != kindFreeList && t.entries != entries {
		return lmdbfile.DamagedPage(no, "it has %d entries, but %d were written", t.entries, entries)
	}
	return nil
}

// markUsed marks n pages as used; an error if one is used already.
func (c *validator) markUsed(no, n uint64) error {
	if no >= c.Count || n > c.Count-no {
		return lmdbfile.DamagedPage(no, "there are %d pages", c.Count)
	}
	for i := no; i < no+n; i++ {
		if !c.used.add(i) {
			return lmdbfile.DamagedPage(i, "it is used twice")
		}
	}
	return nil
}

// page checks a branch or leaf and all below it.
func (t *treeCheck) page(no uint64, level int) error {
	if err := t.markUsed(no, 1); err != nil {
		return err
	}
	p, err := t.TreePage(no)
	if err != nil {
		return err
	}
	// Other flags are those of pages in LMDB's memory, which it would write to.
	if flags := lmdbfile.U16(p.B[lmdbfile.PageFlags:]); flags != lmdbfile.KindBranch && flags != lmdbfile.KindLeaf || p.Leaf != (level == t.depth) {
		return lmdbfile.DamagedPage(no, "a page with the flags %#x on level %d of %d", flags, level, t.depth)
	}
	if !p.Leaf && p.Nodes < 2 && t.holds != kindFreeList {
		return lmdbfile.DamagedPage(no, "a branch with %d node", p.Nodes)
	}
	if err := checkNodes(&p); err != nil {
		return err
	}
	if p.Leaf {
		t.leaves++
		return t.leaf(&p)
	}
	t.branches++
	for i := range p.Nodes {
		n, err := p.Node(i)
		if err != nil {
			return err
		}
		if err := t.page(n.Child(), level+1); err != nil {
			return err
		}
	}
	return nil
}

// checkNodes rejects overlapping nodes: LMDB adds up their sizes.
func checkNodes(t *lmdbfile.TreePage) error {
	type extent struct{ from, to int }
	nodes := make([]extent, t.Nodes)
	for i := range nodes {
		at, end, ok := t.NodeBounds(i)
		if !ok || end-at-lmdbfile.NodeHeader > maxKey || at%2 != 0 {
			return lmdbfile.DamagedPage(t.No, "node %d is not within the page", i)
		}
		if t.Leaf {
			n, err := t.Node(i)
			if err != nil {
				return err
			}
			size := n.Size()
			if n.Flags() == lmdbfile.NodeBig {
				size = 8
			}
			if _, err := n.Data(size); err != nil {
				return err
			}
			end += int(size)
		}
		nodes[i] = extent{at, end + end%2}
	}
	slices.SortFunc(nodes, func(a, b extent) int { return a.from - b.from })
	at := t.Upper
	for _, n := range nodes {
		if n.from < at || n.to > len(t.B) {
			return lmdbfile.DamagedPage(t.No, "its nodes overlap")
		}
		at = n.to
	}
	return nil
}

func (t *treeCheck) leaf(p *lmdbfile.TreePage) error {
	for i := range p.Nodes {
		n, err := p.Node(i)
		if err != nil {
			return err
		}
		if err := t.order(&n); err != nil {
			return err
		}
		t.entries++
		value, err := t.leafValue(&n)
		if err != nil {
			return err
		}
		switch t.holds {
		case kindDatabases:
			err = t.database(&n)
		case kindFreeList:
			err = t.freeList(&n, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// order rejects a key that does not come after the previous one.
func (t *treeCheck) order(n *lmdbfile.Node) error {
	key := n.Key()
	if t.holds == kindFreeList {
		if len(key) != 8 || lmdbfile.U64(key) == 0 || lmdbfile.U64(key) > t.txn || len(t.last) == 8 && lmdbfile.U64(key) <= lmdbfile.U64(t.last) {
			return lmdbfile.DamagedPage(n.Page, "invalid transaction %x in the list of free pages", key)
		}
	} else if len(key) == 0 || t.entries > 0 && bytes.Compare(key, t.last) <= 0 {
		return lmdbfile.DamagedPage(n.Page, "the key %q comes after %q", key, t.last)
	}
	t.last = key
	return nil
}

// leafValue returns the value of a node and marks its pages as used.
func (t *treeCheck) leafValue(n *lmdbfile.Node) ([]byte, error) {
	switch f := n.Flags(); {
	case f == 0, f == lmdbfile.NodeDatabase && t.holds == kindDatabases:
		return n.Data(n.Size())
	case f != lmdbfile.NodeBig:
		return nil, lmdbfile.DamagedPage(n.Page, "a node with the flags %#x", f)
	}
	b, err := n.Data(8)
	if err != nil {
		return nil, err
	}
	no := lmdbfile.U64(b)
	head, err := t.Page(no, lmdbfile.KindOverflow)
	if err != nil {
		return nil, err
	}
	count := uint64(lmdbfile.U32(head[lmdbfile.PagePages:]))
	if flags := lmdbfile.U16(head[lmdbfile.PageFlags:]); flags != lmdbfile.KindOverflow || count == 0 {
		return nil, lmdbfile.DamagedPage(no, "%d overflow pages with the flags %#x", count, flags)
	}
	if err := t.markUsed(no, count); err != nil {
		return nil, err
	}
	t.overflow += count
	return t.Overflow(no, n.Size())
}

// database checks the database that a node of the main database describes.
func (t *treeCheck) database(n *lmdbfile.Node) error {
	if n.Flags() != lmdbfile.NodeDatabase || n.Size() != lmdbfile.DBLength || !slices.Contains(t.names, string(n.Key())) {
		return lmdbfile.DamagedPage(n.Page, "the record %q does not describe a database", n.Key())
	}
	b, err := n.Data(lmdbfile.DBLength)
	if err != nil {
		return err
	}
	if err := t.tree(n.Page, b, kindValues, t.validator.entries); err != nil {
		return fmt.Errorf("database %s: %w", n.Key(), err)
	}
	return nil
}

// freeList checks a list of free pages, which is in descending order.
func (t *treeCheck) freeList(n *lmdbfile.Node, list []byte) error {
	if len(list) < 8 || len(list)%8 != 0 || lmdbfile.U64(list) > uint64(len(list)/8-1) {
		return lmdbfile.DamagedPage(n.Page, "invalid list of free pages of %d bytes", len(list))
	}
	before := t.Count
	for list = pageList(list); len(list) > 0; list = list[8:] {
		no := lmdbfile.U64(list)
		if no >= before {
			return lmdbfile.DamagedPage(n.Page, "page %d comes after page %d in a list of free pages", no, before)
		}
		if err := t.markUsed(no, 1); err != nil {
			return err
		}
		before = no
	}
	return nil
}

// validate checks the snapshot's file, which is at least as long as the snapshot.
func (s *snapshot) validate(data []byte, pageSize int, names []string, entries int) error {
	for _, m := range s.Metas {
		if len(m) != lmdbfile.MetaLength {
			return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
		}
	}
	return validate(data[:s.Size], s.Metas, pageSize, names, entries)
}
