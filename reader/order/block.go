package order

import "github.com/dsconv/dsconv/reader/random"

// layout is how a dataset is cut for a block shuffle, the same in each epoch. The blocks
// come in slots, the last of which holds what is left by the full ones; the windows are runs
// of slots, as even as can be, so that the last of them mixes as well as the others.
type layout struct {
	n, block, full int
	windows        int
	short, longer  int // slots in a window; that many windows, the first ones, have one more
	among          domain
	storage        []int32
}

func newLayout(d Data, block, window int) *layout {
	l := &layout{n: d.Samples, storage: d.Storage, block: min(block, max(d.Samples, 1))}
	l.full = l.n / l.block
	slots := (l.n + l.block - 1) / l.block
	l.windows = max((slots+window-1)/window, 1)
	l.short, l.longer = slots/l.windows, slots%l.windows
	l.among = domainOf(l.full)
	return l
}

// window is the one that a position lies in, and where it begins and how long it is.
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

// blocks shuffles blocks of consecutive samples, and samples within a window of blocks. The
// blocks are cut from the storage bent to a ring and turned by a draw: all samples are alike
// to it, those of the short block too, and from epoch to epoch other neighbours part.
type blocks struct {
	*layout
	turn   int
	slots  network // permutes the full blocks
	within network // permutes a window's samples
}

func newBlocks(l *layout, seed uint64, epoch int) *blocks {
	r := random.NewRand(seed, epoch, blockKey)
	return &blocks{layout: l, turn: r.IntN(l.n), slots: newNetwork(&r), within: newNetwork(&r)}
}

func (o *blocks) Len() int { return o.n }

func (o *blocks) At(position int) int {
	w, first, size := o.window(position)
	i := first + o.within.at(domainOf(size), tweak(w), position-first)
	block, rest := i/o.block, i%o.block
	if block < o.full {
		block = o.slots.at(o.among, 0, block)
	}
	place := block*o.block + rest + o.turn
	if place >= o.n {
		place -= o.n
	}
	if o.storage == nil {
		return place
	}
	return int(o.storage[place])
}

// tweak makes the permutation of each window another.
func tweak(w int) uint64 { return random.Mix(uint64(w)) }
