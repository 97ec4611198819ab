package reader

import (
	"math/bits"

	"github.com/dsconv/dsconv/reader/augment"
)

// rounds of the Feistel network. Four with good round functions make a pseudorandom
// permutation of a large set (Luby, Rackoff 1988); the orders of five or eight samples
// were visibly uneven with eight rounds and are not with twelve.
const rounds = 16

// order is the order of an epoch over n samples in a few words of memory: a keyed
// permutation by a Feistel network over the smallest power of two that holds n, which is
// applied again while the result is not below n ("cycle walking", Black and Rogaway:
// "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). Fewer than two applications are
// needed on average.
type order struct {
	n        uint64
	shuffle  bool
	low      int    // bits in the right half
	lowMask  uint64 // of the right half
	highMask uint64 // of the left half
	keys     [rounds]uint64
}

// newOrder is the order of that epoch; without shuffle it is 0, 1, 2, ...
func newOrder(n int, shuffle bool, seed uint64, epoch int) order {
	width := bits.Len64(uint64(max(n, 1) - 1))
	o := order{n: uint64(n), shuffle: shuffle, low: (width + 1) / 2}
	o.lowMask = 1<<o.low - 1
	o.highMask = 1<<(width/2) - 1
	r := augment.NewRand(seed, epoch, -1) // no sample has that rank
	for i := range o.keys {
		o.keys[i] = r.Uint64()
	}
	return o
}

// at is the sample at a position of the epoch, both from 0 to n-1.
func (o *order) at(position int) int {
	if !o.shuffle {
		return position
	}
	x := o.permute(uint64(position))
	for x >= o.n {
		x = o.permute(x)
	}
	return int(x)
}

// permute is a bijection of the numbers of so many bits; the halves change in turn, so
// that they may differ in width.
func (o *order) permute(x uint64) uint64 {
	left, right := x>>o.low, x&o.lowMask
	for i := 0; i < rounds; i += 2 {
		left ^= augment.Mix(right^o.keys[i]) & o.highMask
		right ^= augment.Mix(left^o.keys[i+1]) & o.lowMask
	}
	return left<<o.low | right
}
