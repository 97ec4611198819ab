// Package codec decodes and encodes images of every encoding: JPEG through package jpeg, and PNG, GIF,
// BMP, TIFF, WebP and raw pixels. [Inspect] reads headers, [CheckStructure] checks a file without
// decoding it, a [Decoder] gives the pixels of an image or of a region, an [Encoder] writes them. The
// pixels equal Pillow's bit for bit.
//
// A Decoder or Encoder is for one goroutine. Use it for many images, and close it at the end.
package codec

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/luma"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecodeOptions choose the pixels of a decoded image. The zero value is Pillow's
// Image.open(p).convert("RGB").
type DecodeOptions struct {
	Color pixel.Color
	// Deep keeps 16 bits per channel in images that have them, whatever Color they are converted
	// to. Without it Color decides, and the pixels are Pillow's.
	Deep bool
	// EXIF says whether the image is turned and flipped as its EXIF orientation says.
	EXIF pixel.EXIF
	// Indices decodes a palette image to its indices (H, W, 1) instead of its colours, and one of single
	// bits to 0 and 1, as numpy.asarray(Image.open(p)) does for segmentation masks.
	Indices bool
	// MaxPixels is the largest H*W; 0 is pixel.DefaultMaxPixels.
	MaxPixels int
	// MaxBytes is the size of the largest file that is read from an io.Reader; 0 is DefaultMaxBytes. A Decoder,
	// which gets the bytes, does not look at it.
	MaxBytes int64
	// Region is the rectangle to decode, of the upright image with EXIFApply; the zero Rect is all.
	// Of a JPEG little more than that is decoded, so that damage elsewhere is not found. The pixels
	// equal those of the whole image bit for bit, except with Fast.
	Region pixel.Rect
	// Mode is Exact or Fast. With Fast, a JPEG may be scaled down by 2, 4 or 8 as long as Region keeps
	// at least MinW by MinH pixels (0: not scaled), and the result may begin and end within a pixel of
	// Region: see Decoder.Area.
	Mode       Mode
	MinW, MinH int
}

// CheckOptions returns an error about an invalid field.
func CheckOptions(o DecodeOptions) error {
	if err := errors.Join(o.Color.UnmarshalText([]byte(o.Color)), o.EXIF.UnmarshalText([]byte(o.EXIF)), o.Mode.UnmarshalText([]byte(o.Mode))); err != nil {
		return fmt.Errorf("codec: %w", err)
	}
	if o.MaxPixels < 0 || o.MaxBytes < 0 || o.MinW < 0 || o.MinH < 0 {
		return fmt.Errorf("codec: MaxPixels %d, MaxBytes %d, MinW %d, MinH %d: none may be negative", o.MaxPixels, o.MaxBytes, o.MinW, o.MinH)
	}
	return nil
}

// Mode is how JPEGs are decoded. "" is Exact.
type Mode string

// The ways to decode JPEGs.
const (
	// Exact gives Pillow's pixels.
	Exact Mode = "exact"
	// Fast gives pixels close to them: the fast DCT, colours that are not interpolated, and an image
	// that is scaled down by 2, 4 or 8 as far as MinW and MinH allow.
	Fast Mode = "fast"
)

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m), nil }

// UnmarshalText reads the value of --decode; "" is the default.
func (m *Mode) UnmarshalText(text []byte) error {
	switch mode := Mode(text); mode {
	case "", Exact, Fast:
		*m = mode
		return nil
	}
	return fmt.Errorf("decode %q: choose exact or fast", text)
}

// turns reports whether o turns an image with that header.
func (o DecodeOptions) turns(h pixel.Header) bool {
	return o.EXIF == pixel.EXIFApply && h.Orientation != 1
}

// Decoder decodes images of every encoding. It is for one goroutine and for many images; Close
// frees its memory.
type Decoder struct {
	// Reservation holds the image's memory until the caller releases it, after the pixels are
	// used. If it is nil, the Decoder reserves memory only while it decodes.
	Reservation *budget.Reservation

	jpeg     jpeg.Decoder
	png      pngDecoder
	zstd     *zstd.Decoder
	scratch  [4]pixel.Image
	tiff     []byte // samples of a TIFF
	warning  string
	narrowed string
	header   pixel.Header
	area     pixel.Area
	stop     *pixel.Stop
	// The current image: its memory reservation, the bytes of its file, the limit of pixels.
	reservation         *budget.Reservation
	ownReservation      budget.Reservation
	fileSize, maxPixels int
	reserved            int64        // bytes, before damage is found
	dst                 *pixel.Image // of Decode
}

// NewDecoder returns a Decoder. It allocates nothing before the first image.
func NewDecoder() *Decoder { return &Decoder{} }

// Close frees the Decoder's memory. It may be used again.
func (d *Decoder) Close() {
	d.jpeg.Close()
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = Decoder{}
}

// StopBy makes s end Decode early, from now until Close.
func (d *Decoder) StopBy(s *pixel.Stop) { d.stop, d.jpeg.Stop = s, s }

// Warning says what was irregular about the last decoded image, "" if nothing was. It was decoded
// nevertheless, as Pillow does.
func (d *Decoder) Warning() string { return d.warning }

// Narrowed says how the last decoded image, of more than 8 bits per channel, lost some of them to
// DecodeOptions.Color: NarrowedClipped, NarrowedCut, or what a kind of TIFF lost; "" if it lost none.
func (d *Decoder) Narrowed() string { return d.narrowed }

// Header returns the header of the last decoded image.
func (d *Decoder) Header() pixel.Header { return d.header }

// Decode decodes v, an encoded image or raw pixels of v.DType and v.Shape, to dst and reuses
// dst's memory. The file's first bytes decide its encoding, before v.Encoding. Decode keeps no
// reference to v. ErrTruncated, ErrCorrupt, ErrTooLarge, ErrUnsupported or ErrNotImage is in the
// chain of an error, or EndsRun reports true for it.
func (d *Decoder) Decode(dst *pixel.Image, v *formats.Value, o DecodeOptions) error {
	o.Color = cmp.Or(o.Color, pixel.ColorRGB)
	d.warning, d.narrowed, d.header, d.area = "", "", pixel.Header{}, pixel.Area{}
	if err := d.stop.Err(); err != nil {
		return err
	}
	d.reservation, d.fileSize, d.maxPixels, d.dst = d.Reservation, len(v.Data), o.MaxPixels, dst
	defer func() { d.dst = nil }()
	if d.Reservation == nil {
		d.reservation = &d.ownReservation
		defer d.free()
	}
	decode := d.decodeFile
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		decode = d.decodeRaw
	}
	if err := decode(dst, v, o); err != nil {
		if stopped := d.stop.Err(); stopped != nil {
			return stopped
		}
		return err
	}
	if d.area == (pixel.Area{}) {
		d.area = pixel.Area{X1: float64(dst.W), Y1: float64(dst.H)}
	}
	return nil
}

// free releases the Decoder's own reservation.
func (d *Decoder) free() {
	if d.reservation.Large() {
		d.Shrink()
	}
	d.reservation.Release()
}

func (d *Decoder) decodeFile(dst *pixel.Image, v *formats.Value, o DecodeOptions) error {
	enc, h, err := Inspect(v.Data)
	if err != nil {
		return err
	}
	d.header = h
	if err := CheckSize(h, o.MaxPixels); err != nil {
		return err
	}
	region, err := o.storedRegion(h)
	if err != nil {
		return err
	}
	turn := o.turns(h)
	if turn {
		o.MinH, o.MinW = pixel.OrientedSize(o.MinH, o.MinW, h.Orientation) // as the image is stored
	}
	if err := d.reserve(DecodeMemory(v.Data, enc, h, region, o)); err != nil {
		return err
	}
	target := dst
	if turn {
		target = &d.scratch[1]
	}
	if err := d.decodeRegion(target, v.Data, enc, h, region, o); err != nil {
		return err
	}
	if turn {
		if err := pixel.Orient(dst, target, h.Orientation); err != nil {
			return err
		}
		d.area = d.area.Oriented(target.H, target.W, h.Orientation)
	}
	return nil
}

// decodeRegion decodes the rectangle r of data to dst, as the pixels lie in the file.
func (d *Decoder) decodeRegion(dst *pixel.Image, data []byte, enc formats.Encoding, h pixel.Header, r pixel.Rect, o DecodeOptions) error {
	if enc == formats.JPEG {
		return d.decodeJPEG(dst, data, h, r, o)
	}
	target, whole := dst, r == pixel.Rect{W: h.W, H: h.H}
	if !whole {
		target = &d.scratch[3]
	}
	if err := d.decodeAs(target, data, enc, h, o); err != nil {
		return err
	}
	if o.Indices && bilevel(data, enc) {
		zeroOne(target)
	}
	if whole {
		return nil
	}
	return target.Crop(dst, r)
}

// CheckSize returns an error if a header claims more than maxPixels.
func CheckSize(h pixel.Header, maxPixels int) error {
	if maxPixels <= 0 {
		maxPixels = pixel.DefaultMaxPixels
	}
	if h.H > maxPixels/h.W {
		return fmt.Errorf("%w: %dx%d, the limit is %d", pixel.ErrTooLarge, h.W, h.H, maxPixels)
	}
	return nil
}

// decodeAs decodes data, which is no JPEG, to dst in o.Color, as the pixels lie in the file.
func (d *Decoder) decodeAs(dst *pixel.Image, data []byte, enc formats.Encoding, h pixel.Header, o DecodeOptions) error {
	switch enc {
	case formats.WebP:
		return d.decodeWebP(dst, data, h, o.Color)
	case formats.BMP:
		return d.decodeBMP(dst, data, h, o)
	case formats.TIFF:
		return d.decodeTIFF(dst, data, h, o)
	case formats.PNG:
		return d.decodePNG(dst, data, h, o)
	}
	return d.decodeGIF(dst, data, o)
}

// indices returns where the indices of a palette image belong: dst if o asks for them, or else scratch memory.
func (d *Decoder) indices(dst *pixel.Image, o DecodeOptions) *pixel.Image {
	if o.Indices {
		return dst
	}
	return &d.scratch[0]
}

// colors writes the colours of palette indices to dst as o asks, unless dst has the indices.
func (d *Decoder) colors(dst *pixel.Image, table *[256][3]byte, o DecodeOptions) {
	if o.Indices {
		return
	}
	in := &d.scratch[0]
	if o.Color == pixel.ColorGray {
		dst.Reset(in.H, in.W, 1, formats.Uint8)
		for i, v := range in.Pix {
			c := &table[v]
			dst.Pix[i] = luma.Of(c[0], c[1], c[2])
		}
		return
	}
	dst.Reset(in.H, in.W, 3, formats.Uint8)
	for i, v := range in.Pix {
		copy(dst.Pix[3*i:3*i+3], table[v][:])
	}
}

// reserve reserves the n bytes that decoding takes.
func (d *Decoder) reserve(n int64) error {
	d.reserved = n
	return d.reserveMore(0)
}

// reserveMore reserves n bytes in addition. Pixels decoded so far may be lost.
func (d *Decoder) reserveMore(n int64) error {
	return d.reservation.ReserveImageOr(d.reserved+n, d.fileSize, d.maxPixels, d)
}

// Drop frees the buffers that memory was reserved for.
func (d *Decoder) Drop() {
	d.Shrink()
	d.dst.Shrink()
}

// DecodeMemory estimates the bytes that decoding the rectangle r of an image file takes, all in
// all. It is for an intact file: the extra memory of a damaged one is reserved once the damage is
// found.
func DecodeMemory(data []byte, enc formats.Encoding, h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	own := h.C * h.DType.Size()
	perPixel := o.pixelMemory(h)
	n := int64(0)
	switch enc {
	case formats.JPEG:
		return jpegMemory(h, r, o)
	case formats.PNG:
		n = budget.ImageBytes(2, h.W, own)
		if h.Palette {
			perPixel++
		}
	case formats.GIF:
		perPixel += 2
	case formats.TIFF:
		more, block := tiffMemory(data)
		perPixel, n = perPixel+more, block
	case formats.BMP:
		perPixel++
	case formats.WebP:
		perPixel += 4 // libwebp's own pixels, or alpha
	}
	n += budget.ImageBytes(h.H, h.W, perPixel)
	if r != (pixel.Rect{W: h.W, H: h.H}) {
		n += budget.ImageBytes(r.H, r.W, perPixel)
	}
	if o.turns(h) {
		n += budget.ImageBytes(r.H, r.W, perPixel)
	}
	return n
}

// pixelMemory is the bytes of a pixel in the file's format plus, if it is converted, in the
// caller's.
func (o DecodeOptions) pixelMemory(h pixel.Header) int {
	own := h.C * h.DType.Size()
	if o.keeps(h) {
		return own
	}
	return own + o.pixelSize(h)
}

// jpegMemory is decodeMemory of a JPEG, whose rows and columns around r are not kept.
func jpegMemory(h pixel.Header, r pixel.Rect, o DecodeOptions) int64 {
	n := o.scaleDenominator(r)
	perPixel := o.Color.Channels(h.C)
	sum := budget.ImageBytes(r.H/n+1, r.W/n+1, perPixel)
	if o.turns(h) {
		sum *= 2
	}
	return sum + int64(h.CoefficientBytes)
}

// Shrink frees large buffers.
func (d *Decoder) Shrink() {
	for i := range d.scratch {
		d.scratch[i].Shrink()
	}
	d.tiff = buffer.DropLarge(d.tiff)
	d.png.rows = [2][]byte{buffer.DropLarge(d.png.rows[0]), buffer.DropLarge(d.png.rows[1])}
	if d.zstd != nil { // it keeps a reference to its last output
		d.zstd.Close()
		d.zstd = nil
	}
}

// MaskOptions is how masks are decoded, in a pack and in a Loader: with their own channels and depth, and the
// indices of a palette image or of single bits.
func MaskOptions() DecodeOptions { return DecodeOptions{Color: pixel.ColorKeep, Indices: true} }
