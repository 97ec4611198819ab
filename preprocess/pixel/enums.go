package pixel

import (
	"fmt"
	"slices"
	"strings"
)

// Layout is the order of a batch's dimensions.
type Layout string

// The layouts. In NHWC the channels of a pixel are together, as in image files; in NCHW each channel
// is a plane, as in PyTorch.
const (
	NHWC Layout = "nhwc"
	NCHW Layout = "nchw"
)

// Filter is a resampling filter, named as in Pillow's Image.Resampling. "" is Bilinear.
type Filter string

// The filters. All but Nearest widen with the scale when shrinking (antialiasing).
const (
	Nearest  Filter = "nearest"
	Box      Filter = "box"
	Bilinear Filter = "bilinear"
	Hamming  Filter = "hamming"
	Bicubic  Filter = "bicubic"
	Lanczos  Filter = "lanczos"
)

// EXIF says what happens to an image whose EXIF orientation is not upright. "" is EXIFKeep.
type EXIF string

// The ways to treat the EXIF orientation.
const (
	// EXIFKeep ignores it, as ImageFolder and Pillow do. Images whose bytes pass through keep it;
	// images that are encoded again have no EXIF, so that it is lost.
	EXIFKeep EXIF = "keep"
	// EXIFApply turns and flips the pixels, masks and boxes.
	EXIFApply EXIF = "apply"
)

// Sampling is how much smaller a JPEG's colours are stored than its brightness. "" is Sampling420.
type Sampling string

// The samplings of JPEGs.
const (
	Sampling444 Sampling = "444" // as large
	Sampling422 Sampling = "422" // half as wide
	Sampling420 Sampling = "420" // half as wide and half as high, as Pillow writes it
)

// MarshalText implements encoding.TextMarshaler.
func (f Filter) MarshalText() ([]byte, error) { return []byte(f), nil }

// UnmarshalText reads the value of --filter; "" is the default.
func (f *Filter) UnmarshalText(text []byte) error {
	return choose(f, "filter", text, Nearest, Box, Bilinear, Hamming, Bicubic, Lanczos)
}

// MarshalText implements encoding.TextMarshaler.
func (e EXIF) MarshalText() ([]byte, error) { return []byte(e), nil }

// UnmarshalText reads the value of --exif; "" is the default.
func (e *EXIF) UnmarshalText(text []byte) error {
	return choose(e, "exif", text, EXIFKeep, EXIFApply)
}

// MarshalText implements encoding.TextMarshaler.
func (s Sampling) MarshalText() ([]byte, error) { return []byte(s), nil }

// UnmarshalText reads the sampling of --encode jpeg; "" is the default.
func (s *Sampling) UnmarshalText(text []byte) error {
	return choose(s, "sampling", text, Sampling444, Sampling422, Sampling420)
}

// MarshalText implements encoding.TextMarshaler.
func (c Color) MarshalText() ([]byte, error) { return []byte(c), nil }

// UnmarshalText reads the value of --color; "" is the default.
func (c *Color) UnmarshalText(text []byte) error {
	return choose(c, "color", text, ColorRGB, ColorGray, ColorKeep)
}

// choose sets to to text if that is "" or one of the values.
func choose[T ~string](to *T, what string, text []byte, values ...T) error {
	v := T(text)
	if v != "" && !slices.Contains(values, v) {
		names := make([]string, len(values))
		for i, value := range values {
			names[i] = string(value)
		}
		last := len(names) - 1
		return fmt.Errorf("%s %q: choose %s or %s", what, v, strings.Join(names[:last], ", "), names[last])
	}
	*to = v
	return nil
}
