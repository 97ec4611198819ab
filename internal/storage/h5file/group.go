package h5file

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// Limits of groups.
const (
	maxMembers = 1 << 20
)

// Members lists the names in the group at path, sorted; "" is the root. ok is false if there is no such group.
func (f *File) Members(path string) (names []string, ok bool, err error) {
	at, ok, err := f.lookup(path)
	if err != nil || !ok {
		return nil, false, err
	}
	members, isGroup, err := f.members(at)
	return slices.Sorted(maps.Keys(members)), isGroup, err
}

// lookup returns the address of the object header of what is at path; ok is false if there is nothing.
func (f *File) lookup(path string) (at uint64, ok bool, err error) {
	at = f.root.header
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		members, isGroup, err := f.members(at)
		if err != nil || !isGroup {
			return 0, false, err
		}
		if at, ok = members[name]; !ok {
			return 0, false, nil
		}
	}
	return at, true, nil
}

// groupMembers are the object headers of a group's members.
type groupMembers struct {
	at      map[string]uint64
	isGroup bool
}

// members returns the object headers of the members of a group; soft and external links are left out. It reads a group
// once.
func (f *File) members(at uint64) (members map[string]uint64, isGroup bool, err error) {
	if g, ok := f.groups[at]; ok {
		return g.at, g.isGroup, nil
	}
	members, isGroup, err = f.readMembers(at)
	if err == nil {
		f.groups[at] = groupMembers{members, isGroup}
	}
	return members, isGroup, err
}

func (f *File) readMembers(at uint64) (members map[string]uint64, isGroup bool, err error) {
	list, err := f.messages(at)
	if err != nil {
		return nil, false, err
	}
	members = map[string]uint64{}
	for _, m := range list {
		c := &cursor{b: m.body}
		switch m.kind {
		case msgSymbolTable:
			isGroup = true
			err = f.symbols(c.u64(), c.u64(), members)
		case msgLinkInfo:
			isGroup = true
			err = linkInfo(c)
		case msgLink:
			isGroup = true
			err = f.link(c, members)
		}
		if err != nil {
			return nil, isGroup, err
		}
	}
	return members, isGroup, nil
}

// linkInfo rejects groups whose links are in a heap.
func linkInfo(c *cursor) error {
	c.take(1)
	flags := c.u8()
	if flags&1 != 0 {
		c.take(8)
	}
	if heap := c.u64(); !c.failed && heap != undefined {
		return unsupported("a group of more than 8 members in a file with libver=\"latest\"")
	}
	return nil
}

// link reads a link message.
func (f *File) link(c *cursor, members map[string]uint64) error {
	if version := c.u8(); version != 1 {
		return damaged("a link of version %d", version)
	}
	flags, kind := c.u8(), 0
	if flags&8 != 0 {
		kind = c.u8()
	}
	if flags&4 != 0 {
		c.take(8)
	}
	if flags&16 != 0 {
		c.take(1)
	}
	size := c.number(1 << (flags & 3))
	name := string(c.take(int(min(size, 1<<20))))
	at := uint64(0)
	if kind == 0 {
		at = c.u64()
	}
	if c.failed {
		return damaged("a link is not complete")
	}
	if kind == 0 {
		members[name] = at
	} else {
		f.leaveOut(name)
	}
	return nil
}

// symbols reads the nodes of a symbol table: a B-tree, and a heap with the names.
func (f *File) symbols(tree, heap uint64, members map[string]uint64) error {
	c, err := f.from(heap)
	if err != nil {
		return err
	}
	if string(c.take(4)) != "HEAP" {
		return damaged("the heap of a group at byte %d", heap)
	}
	c.take(4)
	size := c.u64()
	c.take(8)
	names, err := f.bytes(c.u64(), size)
	if err != nil || c.failed {
		return damaged("the heap of a group at byte %d", heap)
	}
	left := len(f.data)
	return f.walk(tree, 0, 8, func(_ []byte, child uint64) error { return f.symbolNode(child, names, members, &left) })
}

// softLink is the kind of a member that is one, in a symbol table.
const softLink = 2

// leaveOut notes a link.
func (f *File) leaveOut(name string) {
	const most = 10
	if len(f.Links) < most && !slices.Contains(f.Links, name) {
		f.Links = append(f.Links, name)
	}
}

// symbolNode adds the members in a node. left is how many bytes nodes and names may still have.
func (f *File) symbolNode(at uint64, names []byte, members map[string]uint64, left *int) error {
	c, err := f.from(at)
	if err != nil {
		return err
	}
	if string(c.take(4)) != "SNOD" {
		return damaged("the members of a group at byte %d", at)
	}
	c.take(2)
	for range c.u16() {
		offset, header, kind := c.u64(), c.u64(), c.u32()
		c.take(4 + 16)
		if c.failed || offset >= uint64(len(names)) || len(members) == maxMembers {
			return damaged("the members of a group at byte %d", at)
		}
		name, _, ok := bytes.Cut(names[offset:], []byte{0})
		if *left -= 40 + len(name); !ok || *left < 0 {
			return damaged("the name of a member of a group at byte %d", at)
		}
		if kind == softLink {
			f.leaveOut(string(name))
		} else {
			members[string(name)] = header
		}
	}
	return nil
}

// maxLevels is more than any tree has.
const maxLevels = 32

// walk calls leaf with each key and child of the leaves of a B-tree of version 1; keys have that many bytes. It ends in every tree.
func (f *File) walk(at uint64, kind, keySize int, leaf func(key []byte, child uint64) error) error {
	if at == undefined {
		return nil
	}
	w := &walker{f, kind, keySize, leaf, len(f.data)}
	return w.node(at, -1)
}

type walker struct {
	*File
	kind, keySize int
	leaf          func(key []byte, child uint64) error
	left          int // bytes that nodes may still have: a node that several lead to is in the file once
}

// node visits a node of that level, -1 is any.
func (w *walker) node(at uint64, level int) error {
	c, err := w.from(at)
	if err != nil {
		return err
	}
	sign, kind, depth, entries := string(c.take(4)), c.u8(), c.u8(), c.u16()
	if w.left -= 24 + entries*(w.keySize+8); w.left < 0 {
		return damaged("a B-tree has more nodes than the file")
	}
	c.take(16)
	if c.failed || sign != "TREE" || kind != w.kind || depth >= maxLevels || level >= 0 && depth != level {
		return damaged("a node of a B-tree at byte %d", at)
	}
	for range entries {
		key, child := c.take(w.keySize), c.u64()
		if c.failed {
			return damaged("a node of a B-tree at byte %d", at)
		}
		if depth > 0 {
			err = w.node(child, depth-1)
		} else {
			err = w.leaf(key, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
