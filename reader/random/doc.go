// Package random has the random numbers of a Loader: draws that depend on seed, epoch and sample alone,
// never on which worker draws, or when. An op of one's own draws from the [Rand] that it is given:
//
//	func (o Tilt) AddTo(s *augment.Steps, r *random.Rand) {
//		s.Rotate(r.Uniform(-o.Degrees, o.Degrees), pixel.Bilinear, false, nil, nil)
//	}
//
// The numbers of a key are the same on every processor and system; those of Normal and
// Beta up to the last bit of the math functions.
package random
