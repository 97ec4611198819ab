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

// Beta draws from the beta distribution whose parameters are both alpha: a number from 0 to 1, near 0 or
// 1 for alpha < 1, near the middle for alpha > 1. The number of draws varies. It panics unless alpha is
// positive and finite.
func (r *Rand) Beta(alpha float64) float64 {
	if !(alpha > 0 && alpha <= math.MaxFloat64) {
		panic(fmt.Sprintf("random: Beta(%v): the parameter must be positive and finite", alpha))
	}
	a, b := r.logGamma(alpha), r.logGamma(alpha)
	return 1 / (1 + math.Exp(b-a))
}

// logGamma draws the logarithm of a gamma variate of that shape (Marsaglia, Tsang: "A Simple
// Method for Generating Gamma Variables", 2000). Small shapes give values that are 0 in
// floating point, but not their logarithms.
func (r *Rand) logGamma(shape float64) float64 {
	boost := 0.0
	if shape < 1 {
		boost = math.Log(1-r.Float64()) / shape
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return math.Log(d*v) + boost
		}
	}
}
