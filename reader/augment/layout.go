package augment

import "github.com/dsconv/dsconv/preprocess/resample"

// Layout is the order of a batch's dimensions.
type Layout = resample.Layout

// The layouts. An entry of NHWC has its channels together, as images lie in files; one of
// NCHW is a plane per channel, as PyTorch wants it.
const (
	NHWC = resample.NHWC
	NCHW = resample.NCHW
)

// Store is how images become entries of a batch: what the Target of a Runner needs.
func (p *Pipeline) Store() *resample.TensorSpec { return p.store }

// newStore normalises by n, if ops have one.
func newStore(p *Pipeline, n *Normalize) (*resample.TensorSpec, error) {
	if n == nil {
		return resample.NewTensorSpec(p.c, p.dtype, p.layout, nil, nil)
	}
	mean, std := make([]float32, p.c), make([]float32, p.c)
	for k := range p.c {
		mean[k], std[k] = n.channel(k)
	}
	return resample.NewTensorSpec(p.c, p.dtype, p.layout, mean, std)
}
