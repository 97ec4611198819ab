package random

import (
	"fmt"
	"math"
)

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
