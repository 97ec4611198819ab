package guard

import (
	"slices"
	"sort"
)

// regionList is a set of regions that never changes, sorted by address. It is cut into blocks, so that one region
// more or less copies one block and the list of blocks, not a pointer to each of many thousand shards.
type regionList [][]*region

const maxBlock = 512

// listed is the list of all regions at this moment.
func listed() regionList {
	if list := regions.list.Load(); list != nil {
		return *list
	}
	return nil
}

// regionOf is the region that contains the address, nil if there is none.
func regionOf(addr uintptr) *region {
	list := listed()
	block, at := list.find(addr)
	if at < 0 {
		return nil
	}
	if r := list[block][at]; addr-r.at < uintptr(len(r.data)) {
		return r
	}
	return nil
}

// find returns where the last region is that begins at the address or before it. at is -1 if there is none.
func (l regionList) find(addr uintptr) (block, at int) {
	block = sort.Search(len(l), func(i int) bool { return l[i][0].at > addr }) - 1
	if block < 0 {
		return 0, -1
	}
	b := l[block]
	return block, sort.Search(len(b), func(i int) bool { return b[i].at > addr }) - 1
}

// with is the list with one more region.
func (l regionList) with(r *region) regionList {
	if len(l) == 0 {
		return regionList{{r}}
	}
	block, at := l.find(r.at)
	b := slices.Concat(l[block][:at+1], []*region{r}, l[block][at+1:])
	changed := regionList{b}
	if half := len(b) / 2; len(b) > maxBlock {
		changed = regionList{b[:half], b[half:]}
	}
	return slices.Concat(l[:block], changed, l[block+1:])
}

// without is the list without one of its regions.
func (l regionList) without(r *region) regionList {
	block, at := l.find(r.at)
	l = slices.Clone(l)
	if l[block] = slices.Concat(l[block][:at], l[block][at+1:]); len(l[block]) == 0 {
		l = slices.Delete(l, block, block+1)
	}
	return l
}
