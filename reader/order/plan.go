package order

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/dsconv/dsconv/reader/random"
)

// Order is the order of an epoch. It is safe for concurrent use.
type Order interface {
	// Len is the number of positions.
	Len() int
	// At is the sample at a position, 0 <= position < Len().
	At(position int) int
}

// Plan makes the orders of a dataset's epochs. It is safe for concurrent use.
type Plan struct {
	positions, samples int
	repeats            bool
	name               string
	epoch              func(seed uint64, epoch int) Order
}

// Len is the number of positions of an epoch.
func (p *Plan) Len() int { return p.positions }

// Repeats reports whether a sample may come more than once in an epoch. What it draws for its
// augmentation should then be keyed by its position, or it looks the same each time.
func (p *Plan) Repeats() bool { return p.repeats }

// String tells all that decides the orders but the seed: plans of equal strings have equal
// orders. It stays the same from run to run.
func (p *Plan) String() string { return p.name }

// Epoch is the order of an epoch, from 0 on.
func (p *Plan) Epoch(seed uint64, epoch int) Order { return p.epoch(seed, epoch) }

// Data is what a plan orders.
type Data struct {
	// Samples is their number, at most 2^31-1.
	Samples int
	// Weight of a sample, for Weighted: not negative, and not all are 0. It is called three
	// times per sample.
	Weight func(sample int) float64
	// Label of a sample, for Balanced. Samples of a label below 0 are never drawn. It is
	// called up to four times per sample.
	Label func(sample int) int64
}

// New plans the epochs of d.
func New(s Spec, d Data) (*Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if d.Samples < 0 || d.Samples > math.MaxInt32 {
		return nil, fmt.Errorf("order of %d samples: from 0 to %d can be ordered", d.Samples, math.MaxInt32)
	}
	switch s.Kind {
	case Full:
		return planFull(s, d), nil
	case Weighted, Balanced:
		return planWeighted(s, d)
	default:
		return planStored(s, d), nil
	}
}

func planFull(s Spec, d Data) *Plan {
	among := domainOf(d.Samples)
	return &Plan{
		positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples),
		epoch: func(seed uint64, epoch int) Order {
			r := random.NewRand(seed, epoch, fullKey)
			return &full{among: among, network: newNetwork(&r)}
		},
	}
}

// planStored plans the orders that follow the storage, in which samples lie in order of number.
func planStored(s Spec, d Data) *Plan {
	p := &Plan{positions: d.Samples, samples: d.Samples, name: fmt.Sprintf("%s of %d", s, d.Samples)}
	if s.Kind == Block {
		l := newLayout(d.Samples, s.Block, s.Window)
		p.epoch = func(seed uint64, epoch int) Order { return newBlocks(l, seed, epoch) }
		return p
	}
	p.epoch = func(uint64, int) Order { return sequential(d.Samples) }
	return p
}

// full is each sample once, at any position.
type full struct {
	among   domain
	network network
}

func (o *full) Len() int            { return int(o.among.n) }
func (o *full) At(position int) int { return o.network.at(o.among, 0, position) }

// sequential is so many samples as they are stored.
type sequential int

func (o sequential) Len() int            { return int(o) }
func (o sequential) At(position int) int { return position }

// The uses of random numbers, in place of random.NewRand's sample index.
const (
	fullKey = -1 - iota
	blockKey
	drawKey
)

// rounds of the Feistel network. Four with good round functions make a pseudorandom
// permutation of a large set (Luby, Rackoff 1988); the orders of five or eight samples
// were visibly uneven with eight rounds and are not with twelve.
const rounds = 16

// network is a family of keyed permutations: a Feistel network over the smallest power of two that
// holds a domain. It is applied again while the result is not in the domain ("cycle walking", Black
// and Rogaway: "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). On average that takes fewer
// than two applications.
type network struct {
	keys [rounds]uint64
}

func newNetwork(r *random.Rand) (f network) {
	for i := range f.keys {
		f.keys[i] = r.Uint64()
	}
	return f
}

// domain is the numbers below n.
type domain struct {
	n        uint64
	low      int    // bits in the right half
	lowMask  uint64 // of the right half
	highMask uint64 // of the left half
}

func domainOf(n int) domain {
	width := bits.Len64(uint64(max(n, 1) - 1))
	low := (width + 1) / 2
	return domain{n: uint64(n), low: low, lowMask: 1<<low - 1, highMask: 1<<(width/2) - 1}
}

// at returns the image of x under a permutation of d; each tweak gives a different permutation.
func (f *network) at(d domain, tweak uint64, x int) int {
	y := f.permute(d, tweak, uint64(x))
	for y >= d.n {
		y = f.permute(d, tweak, y)
	}
	return int(y)
}

// permute is a bijection of the numbers of the domain's width in bits. The halves change in turn, so
// they may differ in width.
func (f *network) permute(d domain, tweak, x uint64) uint64 {
	left, right := x>>d.low, x&d.lowMask
	for i := 0; i < rounds; i += 2 {
		left ^= random.Mix(right^f.keys[i]^tweak) & d.highMask
		right ^= random.Mix(left^f.keys[i+1]^tweak) & d.lowMask
	}
	return left<<d.low | right
}

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
