package resample

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// TensorSpec is how pixels become elements of a batch. It is safe for concurrent use.
type TensorSpec struct {
	c          int
	dtype      formats.DType
	layout     pixel.Layout
	mean, std  [4]float32
	values     *elementValues // nil for integers
	arithmetic bool
}

// elementValues is dsconv_values of resample_kernel.h.
type elementValues struct {
	mean, inverse, rest [4]float32
	bits                [4][256]uint32
}

// elementTypes begin with those of resample_kernel.h, in its order. The kernels do not write the
// last, uint16.
var elementTypes = []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16, formats.Uint16}

// NewTensorSpec returns a TensorSpec for images of c channels, 1 to 4. With formats.Uint8 pixels of 8
// bits stay as they are. With formats.Uint16 those of 16 bits do, and 8 bits per channel are
// multiplied by 257, so that white stays white. With formats.Float32 pixels are scaled to [0, 1],
// minus mean, divided by std, rounded at each step as torchvision's ToTensor and Normalize do.
// With formats.Float16 and formats.BFloat16 that is rounded to the nearest, ties to even, as torch
// does. mean and std have a value for each channel; nil is 0 and 1.
func NewTensorSpec(c int, d formats.DType, l pixel.Layout, mean, std []float32) (*TensorSpec, error) {
	s := &TensorSpec{c: c, dtype: d, layout: l, std: [4]float32{1, 1, 1, 1}}
	copy(s.mean[:], mean)
	copy(s.std[:], std)
	switch {
	case c < 1 || c > 4:
		return nil, fmt.Errorf("batches of images of %d channels: choose 1 to 4", c)
	case l != pixel.NHWC && l != pixel.NCHW:
		return nil, fmt.Errorf("unknown layout %q: choose %s or %s", l, pixel.NHWC, pixel.NCHW)
	case s.typeIndex() < 0:
		return nil, fmt.Errorf("batches of %q: choose one of %s", d, elementTypes)
	case mean != nil && len(mean) != c || std != nil && len(std) != c:
		return nil, fmt.Errorf("%d means and %d standard deviations for %d channels", len(mean), len(std), c)
	}
	if d != formats.Uint8 && d != formats.Uint16 {
		s.values = s.computeValues()
		s.arithmetic = arithmeticIsExact(s.values, c, s.typeIndex())
	}
	return s, nil
}

// Channels is the number of channels of an image.
func (s *TensorSpec) Channels() int { return s.c }

// DType is the type of an element.
func (s *TensorSpec) DType() formats.DType { return s.dtype }

// Layout is the order of an image's elements.
func (s *TensorSpec) Layout() pixel.Layout { return s.layout }

// Table returns the bits of the elements of all 8-bit values, 256 for each channel; nil for integers.
func (s *TensorSpec) Table() []uint32 {
	if s.values == nil {
		return nil
	}
	return slices.Concat(s.values.bits[0][:], s.values.bits[1][:], s.values.bits[2][:], s.values.bits[3][:])[:256*s.c]
}

// typeIndex is the index of the type in elementTypes, or -1.
func (s *TensorSpec) typeIndex() int {
	for i, d := range elementTypes {
		if d == s.dtype {
			return i
		}
	}
	return -1
}

func (s *TensorSpec) computeValues() *elementValues {
	v := new(elementValues)
	v.mean = s.mean
	for k := range s.c {
		inverse := 1 / float64(s.std[k])
		v.inverse[k] = float32(inverse)
		v.rest[k] = float32(inverse - float64(v.inverse[k]))
		for x := range v.bits[k] {
			v.bits[k][x] = s.round(s.normalize(float32(x)/255, k))
		}
	}
	return v
}

// normalize normalises a value in [0, 1] of channel k.
func (s *TensorSpec) normalize(x float32, k int) float32 { return (x - s.mean[k]) / s.std[k] }

// round returns the bits of x in the element type.
func (s *TensorSpec) round(x float32) uint32 {
	switch s.dtype {
	case formats.Float16:
		return uint32(ToFloat16(x))
	case formats.BFloat16:
		return uint32(ToBFloat16(x))
	}
	return math.Float32bits(x)
}

// Target is where an image is written: an entry of a batch.
type Target struct {
	Spec *TensorSpec
	// Region is the rectangle of the image that is written; the zero Rect is all of it.
	Region pixel.Rect
	// Flip flips it left to right, FlipV top to bottom.
	Flip, FlipV bool
	// The slice of Spec's type holds the H*W*C elements; Half is for float16, bfloat16 and uint16.
	Uint8   []uint8
	Float32 []float32
	Half    []uint16
}

// check returns an error if the target does not fit an image of h by w pixels, and fills in Region.
func (t *Target) check(c, w, h int, d formats.DType) error {
	if t.Region == (pixel.Rect{}) {
		t.Region = pixel.Rect{W: w, H: h}
	}
	p, s, have := t.Region, t.Spec, len(t.Half)
	switch s.dtype {
	case formats.Uint8:
		have = len(t.Uint8)
	case formats.Float32:
		have = len(t.Float32)
	}
	switch {
	case c != s.c:
		return fmt.Errorf("image of %d channels for a batch of %d", c, s.c)
	case d == formats.Uint16 && s.dtype == formats.Uint8:
		return fmt.Errorf("image of 16 bits per channel for a batch of %s", s.dtype)
	case !p.Inside(w, h):
		return fmt.Errorf("region %+v is not inside %dx%d", p, w, h)
	case have != p.W*p.H*c:
		return fmt.Errorf("image of %dx%dx%d for %d elements of a batch", p.H, p.W, c, have)
	}
	return nil
}

// copies reports whether the target is a contiguous range of src's bytes, which is copied at once.
func (t *Target) copies(src *pixel.Image) bool {
	s := t.Spec
	return s.dtype == formats.Uint8 && (s.layout == pixel.NHWC || s.c == 1) && !t.Flip && !t.FlipV &&
		src.DType == formats.Uint8 && t.Region.W == src.W
}

// memory returns a pointer to the first element.
func (t *Target) memory() unsafe.Pointer {
	switch t.Spec.dtype {
	case formats.Uint8:
		return unsafe.Pointer(unsafe.SliceData(t.Uint8))
	case formats.Float32:
		return unsafe.Pointer(unsafe.SliceData(t.Float32))
	}
	return unsafe.Pointer(unsafe.SliceData(t.Half))
}
