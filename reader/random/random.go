package random

import (
	"fmt"
	"math"
	"math/bits"
)

// golden is 2^64 divided by the golden ratio, SplitMix64's increment.
const golden = 0x9e3779b97f4a7c15

// Rand is a counter-based generator: draw j of a key is a hash of (key, j), so what one
// sample draws depends on nothing that was drawn before for another. It is SplitMix64
// (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). The zero value is
// a generator too, always the same one. A copy draws the same numbers again. A Rand belongs to one
// goroutine. It is not for secrets.
type Rand struct {
	// State is where the generator is: a Rand of the same State draws the same.
	State uint64
}

// NewRand keys a generator by the run's seed, the epoch and the sample's rank. Any values will do;
// other values give other numbers.
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

// Uint64 draws 64 bits, each 0 or 1 evenly.
func (r *Rand) Uint64() uint64 {
	r.State += golden
	return Mix(r.State)
}

// Float64 draws uniformly from [0, 1), a multiple of 2^-53: Float64() < p is true with probability p.
func (r *Rand) Float64() float64 {
	return float64(r.Uint64()>>11) * 0x1p-53
}

// Uniform draws uniformly from low to high, by one draw. It is low if both are equal.
func (r *Rand) Uniform(low, high float64) float64 {
	return low + (high-low)*r.Float64()
}

// IntN draws evenly from 0 to n-1, by the high half of a product; for the sizes of images
// its bias (n/2^64) cannot be seen. It panics if n < 1.
func (r *Rand) IntN(n int) int {
	if n < 1 {
		panic(fmt.Sprintf("random: IntN(%d): there is no number from 0 to %d", n, n-1))
	}
	high, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(high)
}

// Normal draws from the standard normal distribution, of mean 0 and standard deviation 1, by two draws
// (Box, Muller 1958).
func (r *Rand) Normal() float64 {
	radius := math.Sqrt(-2 * math.Log(1-r.Float64()))
	return radius * math.Cos(2*math.Pi*r.Float64())
}
