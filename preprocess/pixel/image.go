package pixel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/internal/image/buffer"

	"github.com/dsconv/dsconv/formats"
)

// Errors that callers distinguish. They are wrapped with details.
var (
	// ErrTruncated is returned when the data end before the image does.
	ErrTruncated = errors.New("image file is truncated")
	// ErrTooLarge is returned when an image has more pixels than the limit.
	ErrTooLarge = errors.New("image has too many pixels")
	// ErrPostponed is returned when Processor.ReserveOutput has no memory for an image now.
	ErrPostponed = errors.New("no memory for the image now")
	// ErrNotImage is returned for data that do not begin as any known image format.
	ErrNotImage = errors.New("not an image of a known format")
	// ErrCorrupt is returned when the data cannot be decoded.
	ErrCorrupt = errors.New("image file is damaged")
	// ErrUnsupported is returned for intact images of a kind that cannot be decoded or encoded.
	ErrUnsupported = errors.New("unsupported image")
)

// DefaultMaxPixels is the size above which Pillow refuses an image as a decompression bomb.
const DefaultMaxPixels = 2 * 89478485

// Image holds decoded pixels in C order (H, W, C): row y begins at Pix[y*W*C*DType.Size()],
// without gaps. DType is uint8 or uint16 (little-endian). C is 1 (grey), 2 (grey and
// alpha), 3 (RGB) or 4 (RGB and alpha, not premultiplied).
type Image struct {
	Pix     []byte
	H, W, C int
	DType   formats.DType
}

// Reset sets the image's shape and type and the length of Pix, whose content is then unspecified.
// Pix's memory is reused if it is large enough. A negative size panics.
func (m *Image) Reset(h, w, c int, t formats.DType) {
	if h < 0 || w < 0 || c < 0 {
		panic(fmt.Sprintf("pixel: Reset to %dx%dx%d: no size may be negative", h, w, c))
	}
	m.H, m.W, m.C, m.DType = h, w, c, t
	m.Pix = buffer.Grow(m.Pix, h*w*c*t.Size())
}

// Rect is a rectangle of an image in pixels; the zero Rect stands for the whole image.
type Rect struct{ X, Y, W, H int }

// Stride is the length of a row in bytes.
func (m *Image) Stride() int { return m.W * m.PixelSize() }

// PixelSize is the length of a pixel in bytes.
func (m *Image) PixelSize() int { return m.C * m.DType.Size() }

// Check returns an error if m is not a valid image: ErrUnsupported if it has another type or
// shape, ErrCorrupt if Pix has another length than the shape needs.
func (m *Image) Check() error {
	switch {
	case m.DType != formats.Uint8 && m.DType != formats.Uint16:
		return fmt.Errorf("%w: element type %q", ErrUnsupported, m.DType)
	case m.H <= 0 || m.W <= 0 || m.C < 1 || m.C > 4:
		return fmt.Errorf("%w: shape %dx%dx%d", ErrUnsupported, m.H, m.W, m.C)
	case len(m.Pix) != m.H*m.Stride():
		return fmt.Errorf("%w: %d bytes of pixels for shape %dx%dx%d", ErrCorrupt, len(m.Pix), m.H, m.W, m.C)
	}
	return nil
}

// Crop copies the rectangle r of m, all of it for the zero Rect, to dst, which may be m. It is an error
// if m is not a valid image, or r is not inside m.
func (m *Image) Crop(dst *Image, r Rect) error {
	m, err := source("crop", dst, m)
	if err != nil {
		return err
	}
	if r == (Rect{}) {
		r = Rect{W: m.W, H: m.H}
	}
	if !r.Inside(m.W, m.H) {
		return fmt.Errorf("pixel: crop: the rectangle %+v is not inside an image of %dx%d", r, m.W, m.H)
	}
	dst.Reset(r.H, r.W, m.C, m.DType)
	n, step := dst.Stride(), m.Stride()
	from := r.Y*step + r.X*m.PixelSize()
	for y := range r.H {
		copy(dst.Pix[y*n:(y+1)*n], m.Pix[from+y*step:])
	}
	return nil
}

// source returns src, which is to be read while dst is written: a copy if they share memory. It is an
// error, which names what is done, if that is not possible.
func source(what string, dst, src *Image) (*Image, error) {
	if err := src.Check(); err != nil {
		return nil, fmt.Errorf("pixel: %s: %w", what, err)
	}
	if dst == src || buffer.Overlap(dst.Pix, src.Pix) {
		m := *src
		m.Pix = slices.Clone(src.Pix)
		return &m, nil
	}
	return src, nil
}

// Inside reports whether r is not empty and lies inside an image of w by h pixels.
func (r Rect) Inside(w, h int) bool {
	return r.X >= 0 && r.Y >= 0 && r.W > 0 && r.H > 0 && r.W <= w-r.X && r.H <= h-r.Y
}
