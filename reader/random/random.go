package random

import (
	"math"
	"math/bits"
)

// golden is 2^64 divided by the golden ratio, SplitMix64's increment.
const golden = 0x9e3779b97f4a7c15

// Rand is a counter-based generator: draw j of a key is a hash of (key, j), so what one
// sample draws depends on nothing that was drawn before for another. It is SplitMix64
// (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
type Rand struct {
	State uint64
}

// NewRand keys a generator by the run's seed, the epoch and the sample's rank.
func NewRand(seed uint64, epoch, sample int) Rand {
	key := Mix(seed + golden)
	key = Mix(key ^ uint64(epoch) + golden)
	return Rand{Mix(key ^ uint64(sample) + golden)}
}

// Mix is SplitMix64's finalizer, a bijection in which each bit depends on all bits.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 draws 64 bits.
func (r *Rand) Uint64() uint64 {
	r.State += golden
	return Mix(r.State)
}

// Float64 draws uniformly from [0, 1).
func (r *Rand) Float64() float64 {
	return float64(r.Uint64()>>11) * 0x1p-53
}

// Uniform draws uniformly from [low, high).
func (r *Rand) Uniform(low, high float64) float64 {
	return low + (high-low)*r.Float64()
}

// IntN draws from 0 to n-1, n > 0, by the high half of a product; for the sizes of images
// its bias (n/2^64) cannot be seen.
func (r *Rand) IntN(n int) int {
	high, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(high)
}

// Normal draws from the standard normal distribution (Box, Muller 1958).
func (r *Rand) Normal() float64 {
	radius := math.Sqrt(-2 * math.Log(1-r.Float64()))
	return radius * math.Cos(2*math.Pi*r.Float64())
}
