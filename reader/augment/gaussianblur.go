package augment

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

// GaussianBlur blurs the image by a Gaussian kernel of H by W pixels, both odd, its standard
// deviation drawn evenly from Sigma: torchvision.transforms.GaussianBlur. A value at the
// border of two levels may come out 1 off, because PyTorch adds up in another order.
type GaussianBlur struct {
	H, W int
	// Sigma is (0.1, 2) if zero.
	Sigma [2]float64
}

var defaultSigma = [2]float64{0.1, 2}

func (o GaussianBlur) sigma() [2]float64 { return cmp.Or(o.Sigma, defaultSigma) }

func (o GaussianBlur) String() string {
	return "blur:" + formatSize(o.H, o.W) + formatOption("sigma", o.Sigma, defaultSigma, formatRange)
}

// Check implements Op.
func (o GaussianBlur) Check(channels int) error {
	s := o.sigma()
	switch {
	case min(o.H, o.W) <= 0 || max(o.H, o.W) > maxSide || o.H%2 == 0 || o.W%2 == 0:
		return fmt.Errorf("blur: kernel %s: width and height must be odd, from 1 to %d", formatSize(o.H, o.W), maxSide)
	case !(0 < s[0] && s[0] <= s[1] && s[1] <= 1e6):
		return fmt.Errorf("blur: sigma %s: wanted 0 < low <= high", formatRange(s))
	}
	return checkColors("blur", channels)
}

// AddTo implements Op. An image of up to half a kernel has too few pixels to mirror.
func (o GaussianBlur) AddTo(s *Steps, r *random.Rand) {
	sigmas := o.sigma()
	s.Blur(o.H, o.W, r.Uniform(sigmas[0], sigmas[1]))
}
