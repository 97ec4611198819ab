package sampleorder

import "github.com/dsconv/dsconv/reader/random"

// layout is how a dataset is cut for a block shuffle, the same in each epoch. Each block takes a
// slot; the last slot holds the short block, if there is one. The windows are runs of slots of
// lengths as even as possible, so that the last window is shuffled as well as the others.
type layout struct {
	n, block, full int
	windows        int
	short, longer  int // slots in a window; that many windows, the first ones, have one more
	among          domain
}

func newLayout(n, block, window int) *layout {
	l := &layout{n: n, block: min(block, max(n, 1))}
	l.full = l.n / l.block
	slots := (l.n + l.block - 1) / l.block
	l.windows = max((slots+window-1)/window, 1)
	l.short, l.longer = slots/l.windows, slots%l.windows
	l.among = domainOf(l.full)
	return l
}

// window returns the number of the window that holds a position, its first position and its length.
func (l *layout) window(position int) (w, first, size int) {
	slot := position / l.block
	if l.longer*(l.short+1) > slot {
		w = slot / (l.short + 1)
	} else {
		w = (slot - l.longer) / l.short
	}
	slot = w*l.short + min(w, l.longer)
	end := slot + l.short
	if w < l.longer {
		end++
	}
	first = slot * l.block
	return w, first, min(end*l.block, l.n) - first
}

// blocks shuffles blocks of consecutive samples, and samples within a window of blocks. Storage is
// treated as circular and rotated by a random offset each epoch, so that no sample is always at a
// block boundary or in the short block.
type blocks struct {
	*layout
	rotation int
	slots    network // permutes the full blocks
	within   network // permutes a window's samples
}

func newBlocks(l *layout, seed uint64, epoch int) *blocks {
	r := random.NewRand(seed, epoch, blockKey)
	return &blocks{layout: l, rotation: r.IntN(max(l.n, 1)), slots: newNetwork(&r), within: newNetwork(&r)}
}

func (o *blocks) Len() int { return o.n }

func (o *blocks) At(position int) int {
	w, first, size := o.window(position)
	i := first + o.within.at(domainOf(size), tweak(w), position-first)
	block, rest := i/o.block, i%o.block
	if block < o.full {
		block = o.slots.at(o.among, 0, block)
	}
	index := block*o.block + rest + o.rotation
	if index >= o.n {
		index -= o.n
	}
	return index
}

// tweak makes the permutation of each window different.
func tweak(w int) uint64 { return random.Mix(uint64(w)) }
