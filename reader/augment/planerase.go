package augment

import (
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/resample"
	"github.com/dsconv/dsconv/reader/random"
)

// erasure overwrites a part of a stored entry.
type erasure struct {
	part   pixel.Rect
	values []float64 // one for all channels or one for each; nil is Gaussian noise
	noise  random.Rand
}

// Erase overwrites the part r of the stored entry, in its type and after Normalize, with
// values: one for all channels or one for each. nil is noise of mean 0 and standard deviation
// 1, keyed by one draw from noise. p keeps values.
func (p *Plan) Erase(r pixel.Rect, values []float64, noise *random.Rand) {
	e := erasure{part: r, values: values}
	if values == nil {
		e.noise = random.Rand{State: noise.Uint64()}
	}
	p.erasures = append(p.erasures, e)
}

func (e *erasure) erase(t *resample.Target) error {
	if e.values == nil {
		noise := e.noise
		return t.Erase(e.part, func(int) float32 { return float32(noise.Normal()) })
	}
	return t.Erase(e.part, func(k int) float32 { return float32(e.values[min(k, len(e.values)-1)]) })
}
