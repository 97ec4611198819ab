package sampleorder

import (
	"math/bits"

	"github.com/dsconv/dsconv/reader/random"
)

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
