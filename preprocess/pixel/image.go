package pixel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
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

// Check returns an error if m is not a valid image: ErrUnsupported if it is nil or has another type or
// shape, ErrCorrupt if Pix has another length than the shape needs.
func (m *Image) Check() error {
	switch {
	case m == nil:
		return fmt.Errorf("%w: the image is nil", ErrUnsupported)
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

// Header is what the beginning of an image file says. H, W, C and DType are those of Decode with
// ColorKeep and EXIFKeep.
type Header struct {
	H, W, C int
	DType   formats.DType
	// Orientation is the EXIF orientation, 1 to 8, 1 if there is none. A TIFF's orientation is
	// already applied to H and W (as in Pillow), so that Orientation is 1.
	Orientation int
	// Palette reports whether pixels are indices of a palette (PNG, BMP, GIF, TIFF).
	Palette bool
	// CoefficientBytes is the memory that decoding a JPEG of several scans, such as a progressive
	// one, takes in addition to its pixels; 0 for all other images.
	CoefficientBytes int
}

// Area is a rectangle of an image, from (X0, Y0) to (X1, Y1), whose edges may lie inside pixels.
type Area struct{ X0, Y0, X1, Y1 float64 }

// Oriented moves an area of an h by w image as Orient moves its pixels.
func (b Area) Oriented(h, w, orientation int) Area {
	if b == (Area{}) {
		return b
	}
	t := OrientBox([4]float64{b.X0, b.Y0, b.X1, b.Y1}, h, w, orientation)
	return Area{t[0], t[1], t[2], t[3]}
}

// Fill sets all pixels to one value, in the image's own units and clipped to the range of its
// type: one for all channels or one for each; nil is 0. It is an error if m is not a valid image.
func (m *Image) Fill(fill []float64) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("pixel: fill: %w", err)
	}
	n := m.PixelSize()
	if len(fill) == 0 {
		clear(m.Pix)
		return nil
	}
	for k := range m.C {
		v := fill[min(k, len(fill)-1)]
		if m.DType == formats.Uint16 {
			binary.LittleEndian.PutUint16(m.Pix[2*k:], uint16(min(max(v, 0), math.MaxUint16)))
		} else {
			m.Pix[k] = uint8(min(max(v, 0), math.MaxUint8))
		}
	}
	for filled := n; filled < len(m.Pix); filled *= 2 {
		copy(m.Pix[filled:], m.Pix[:filled])
	}
	return nil
}

// Shrink frees m's memory if it is large, for goroutines that keep an Image for the next one.
func (m *Image) Shrink() { m.Pix = buffer.DropLarge(m.Pix) }
