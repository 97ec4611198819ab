//go:build cgo

package lmdb

import (
	"bytes"
	"fmt"
	"slices"

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
func validate(data []byte, metas [metaPages][]byte, pageSize int, names []string, entries int) error {
	m, err := validateMetas(data, metas, pageSize)
	if err != nil {
		return err
	}
	c := &validator{pages: newPages(data, &m), used: make(pageSet, m.last/64+1), txn: m.txn, names: names}
	c.used.add(0)
	c.used.add(1)
	free := metas[m.no][metaFree:]
	if err := c.tree(m.no, free[:dbLength], kindFreeList, 0); err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	main, want := kindValues, uint64(entries)
	if len(names) > 0 {
		main, want = kindDatabases, uint64(len(names))
		c.entries = uint64(entries)
	}
	return c.tree(m.no, m.main, main, want)
}

// validateMetas checks both meta pages and returns that of the last transaction.
func validateMetas(data []byte, metas [metaPages][]byte, pageSize int) (meta, error) {
	var newest meta
	for i, b := range metas {
		m, err := parseMetaPage(b, i)
		if err != nil {
			return meta{}, err
		}
		switch {
		case m.pageSize != pageSize:
			return meta{}, damagedPage(m.no, "it was written with pages of %d bytes, this machine has pages of %d: resume on a machine like the first", m.pageSize, pageSize)
		case u16(b[pageFlags:]) != kindMeta || u16(b[metaFree+dbFlags:]) != freeFlags || u64(b[metaAddress:]) != 0:
			return meta{}, damagedPage(m.no, "it has flags or a map address that dsconv does not set")
		case m.last < metaPages-1 || m.last >= uint64(len(data)/pageSize):
			return meta{}, damagedPage(m.no, "the last page would be %d in a file of %d bytes", m.last, len(data))
		case u64(b[metaMapSize:]) > 1<<46:
			return meta{}, damagedPage(m.no, "impossible map size of %d bytes", u64(b[metaMapSize:]))
		}
		if i == 0 || m.txn > newest.txn {
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
	pages
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
	if flags := u16(db[dbFlags:]); holds != kindFreeList && flags != 0 {
		return damagedPage(no, "a database with the flags %#x", flags)
	}
	t := treeCheck{validator: c, holds: holds, depth: u16(db[dbDepth:])}
	if root := u64(db[dbRoot:]); root != noPage {
		if t.depth == 0 || t.depth > maxDepth {
			return damagedPage(no, "a tree of %d levels", t.depth)
		}
		if err := t.page(root, 1); err != nil {
			return err
		}
	} else if t.depth != 0 {
		return damagedPage(no, "a tree of %d levels without a page", t.depth)
	}
	got := [...]uint64{t.branches, t.leaves, t.overflow, t.entries}
	recorded := [...]uint64{u64(db[dbBranches:]), u64(db[dbLeaves:]), u64(db[dbOverflow:]), u64(db[dbEntries:])}
	if got != recorded {
		return damagedPage(no, "branches, leaves, overflow pages and entries: found %d, recorded %d", got, recorded)
	}
	if holds != kindFreeList && t.entries != entries {
		return damagedPage(no, "it has %d entries, but %d were written", t.entries, entries)
	}
	return nil
}

// markUsed marks n pages as used; an error if one is used already.
func (c *validator) markUsed(no, n uint64) error {
	if no >= c.count || n > c.count-no {
		return damagedPage(no, "there are %d pages", c.count)
	}
	for i := no; i < no+n; i++ {
		if !c.used.add(i) {
			return damagedPage(i, "it is used twice")
		}
	}
	return nil
}

// page checks a branch or leaf and all below it.
func (t *treeCheck) page(no uint64, level int) error {
	if err := t.markUsed(no, 1); err != nil {
		return err
	}
	p, err := t.treePage(no)
	if err != nil {
		return err
	}
	// Other flags are those of pages in LMDB's memory, which it would write to.
	if flags := u16(p.b[pageFlags:]); flags != kindBranch && flags != kindLeaf || p.leaf != (level == t.depth) {
		return damagedPage(no, "a page with the flags %#x on level %d of %d", flags, level, t.depth)
	}
	if !p.leaf && p.nodes < 2 && t.holds != kindFreeList {
		return damagedPage(no, "a branch with %d node", p.nodes)
	}
	if err := p.checkNodes(); err != nil {
		return err
	}
	if p.leaf {
		t.leaves++
		return t.leaf(&p)
	}
	t.branches++
	for i := range p.nodes {
		n, err := p.node(i)
		if err != nil {
			return err
		}
		if err := t.page(n.child(), level+1); err != nil {
			return err
		}
	}
	return nil
}

// checkNodes rejects overlapping nodes: LMDB adds up their sizes.
func (t *treePage) checkNodes() error {
	type extent struct{ from, to int }
	nodes := make([]extent, t.nodes)
	for i := range nodes {
		at, end, ok := t.nodeBounds(i)
		if !ok || end-at-nodeHeader > maxKey || at%2 != 0 {
			return damagedPage(t.no, "node %d is not within the page", i)
		}
		if t.leaf {
			n, err := t.node(i)
			if err != nil {
				return err
			}
			size := n.size()
			if n.flags() == nodeBig {
				size = 8
			}
			if _, err := n.data(size); err != nil {
				return err
			}
			end += int(size)
		}
		nodes[i] = extent{at, end + end%2}
	}
	slices.SortFunc(nodes, func(a, b extent) int { return a.from - b.from })
	at := t.upper
	for _, n := range nodes {
		if n.from < at || n.to > len(t.b) {
			return damagedPage(t.no, "its nodes overlap")
		}
		at = n.to
	}
	return nil
}

func (t *treeCheck) leaf(p *treePage) error {
	for i := range p.nodes {
		n, err := p.node(i)
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
func (t *treeCheck) order(n *node) error {
	key := n.key()
	if t.holds == kindFreeList {
		if len(key) != 8 || u64(key) == 0 || u64(key) > t.txn || len(t.last) == 8 && u64(key) <= u64(t.last) {
			return damagedPage(n.page, "invalid transaction %x in the list of free pages", key)
		}
	} else if len(key) == 0 || t.entries > 0 && bytes.Compare(key, t.last) <= 0 {
		return damagedPage(n.page, "the key %q comes after %q", key, t.last)
	}
	t.last = key
	return nil
}

// leafValue returns the value of a node and marks its pages as used.
func (t *treeCheck) leafValue(n *node) ([]byte, error) {
	switch f := n.flags(); {
	case f == 0, f == nodeDatabase && t.holds == kindDatabases:
		return n.data(n.size())
	case f != nodeBig:
		return nil, damagedPage(n.page, "a node with the flags %#x", f)
	}
	b, err := n.data(8)
	if err != nil {
		return nil, err
	}
	no := u64(b)
	head, err := t.pages.page(no, kindOverflow)
	if err != nil {
		return nil, err
	}
	count := uint64(u32(head[pagePages:]))
	if flags := u16(head[pageFlags:]); flags != kindOverflow || count == 0 {
		return nil, damagedPage(no, "%d overflow pages with the flags %#x", count, flags)
	}
	if err := t.markUsed(no, count); err != nil {
		return nil, err
	}
	t.overflow += count
	return t.pages.overflow(no, n.size())
}

// database checks the database that a node of the main database describes.
func (t *treeCheck) database(n *node) error {
	if n.flags() != nodeDatabase || n.size() != dbLength || !slices.Contains(t.names, string(n.key())) {
		return damagedPage(n.page, "the record %q does not describe a database", n.key())
	}
	b, err := n.data(dbLength)
	if err != nil {
		return err
	}
	if err := t.tree(n.page, b, kindValues, t.validator.entries); err != nil {
		return fmt.Errorf("database %s: %w", n.key(), err)
	}
	return nil
}

// freeList checks a list of free pages, which is in descending order.
func (t *treeCheck) freeList(n *node, list []byte) error {
	if len(list) < 8 || len(list)%8 != 0 || u64(list) > uint64(len(list)/8-1) {
		return damagedPage(n.page, "invalid list of free pages of %d bytes", len(list))
	}
	before := t.count
	for list = pageList(list); len(list) > 0; list = list[8:] {
		no := u64(list)
		if no >= before {
			return damagedPage(n.page, "page %d comes after page %d in a list of free pages", no, before)
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
		if len(m) != metaLength {
			return fmt.Errorf("%w: the last checkpoint cannot be parsed", formats.ErrDamaged)
		}
	}
	return validate(data[:s.Size], s.Metas, pageSize, names, entries)
}
