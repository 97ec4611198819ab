package preprocess

import (
	"bytes"
	"fmt"
	"image"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

// DecodeOptions say what a Decoder gives. The zero value is Pillow's
// Image.open(p).convert("RGB").
type DecodeOptions struct {
	Color Color
	// Deep keeps the 16 bits of an image that has 16 bits a channel, whatever Color it is
	// converted to. Without it Color decides, and the pixels are Pillow's.
	Deep bool
	// ApplyOrientation turns and flips the image as its EXIF orientation says.
	ApplyOrientation bool
	// Indices gives a palette image's indices (H, W, 1) instead of its colours, as
	// numpy.asarray(Image.open(p)) does for segmentation masks.
	Indices bool
	// MaxPixels is the largest H*W; 0 is DefaultMaxPixels.
	MaxPixels int
	// Region is the part that is wanted, of the upright image with ApplyOrientation; the zero
	// Rect is all. Of a JPEG little more than that is decoded, so that damage elsewhere is not
	// found. The pixels are those of the whole image, bit for bit.
	Region Rect
	// Fast decodes JPEGs by the fast DCT, without interpolating colours, and smaller by 2, 4
	// or 8 as long as Region keeps LeastH by LeastW pixels (0: no smaller): pixels are near
	// Pillow's and no more. Area tells where the region lies in the result.
	Fast       bool
	MinH, MinW int
	// Room is where the caller keeps what the image takes of the Budget until its pixels are
	// used. Without it the Decoder takes room while it decodes.
	Reservation *Reservation
}

// Decoder decodes images of every encoding. It belongs to one goroutine and is made for
// long use; Close frees what it holds.
type Decoder struct {
	jpeg     jpegDecoder
	png      simplePNG
	zstd     *zstd.Decoder
	scratch  [4]Image
	warning  string
	narrowed string
	header   Header
	area     Area
	stop     *Stop
	// What the image that is decoded takes of the Budget, its bytes in the file and the limit
	// of pixels.
	reservation         *Reservation
	ownReservation      Reservation
	fileSize, maxPixels int
	reserved            int64  // of room before damage is found
	dst                 *Image // of Decode
}

// NewDecoder returns a Decoder; it holds nothing before the first image.
func NewDecoder() *Decoder { return &Decoder{} }

// Close frees the Decoder's memory. It may be used again.
func (d *Decoder) Close() {
	d.jpeg.close()
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = Decoder{}
}

// StopBy lets s end Decode early, from now until Close.
func (d *Decoder) StopBy(s *Stop) { d.stop, d.jpeg.stop, d.png.stop = s, s, s }

// Warning is what was odd about the last decoded image, "" if nothing was: it was decoded
// nevertheless, as Pillow does.
func (d *Decoder) Warning() string { return d.warning }

// Narrowed tells how the last decoded image, of 16 bits a channel, lost some of them to
// DecodeOptions.Color: NarrowedClipped or NarrowedCut, or "" if it lost none.
func (d *Decoder) Narrowed() string { return d.narrowed }

// Header is the header of the image that was decoded last.
func (d *Decoder) Header() Header { return d.header }

// Decode makes dst the pixels of v, which is an encoded image or raw pixels of v.DType and
// v.Shape, and reuses dst's memory. The file's own first bytes go before v.Encoding. It
// keeps nothing of v. ErrTruncated, ErrCorrupt, ErrTooLarge, ErrUnsupported or ErrNotImage
// is in the chain of an error, or one that EndsRun knows.
func (d *Decoder) Decode(dst *Image, v *formats.Value, o DecodeOptions) error {
	if o.Color == "" {
		o.Color = ColorRGB
	}
	d.warning, d.narrowed, d.header, d.area = "", "", Header{}, Area{}
	if err := d.stop.err(); err != nil {
		return err
	}
	d.reservation, d.fileSize, d.maxPixels, d.dst = o.Reservation, len(v.Data), o.MaxPixels, dst
	defer func() { d.dst = nil }()
	if o.Reservation == nil {
		d.reservation = &d.ownReservation
		defer d.free()
	}
	decode := d.decodeFile
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		decode = d.decodeRaw
	}
	if err := decode(dst, v, o); err != nil {
		if stopped := d.stop.err(); stopped != nil {
			return stopped
		}
		return err
	}
	if d.area == (Area{}) {
		d.area = Area{X1: float64(dst.W), Y1: float64(dst.H)}
	}
	return nil
}

// free gives back what the Decoder took for itself.
func (d *Decoder) free() {
	if d.reservation.Large() {
		d.Shrink()
	}
	d.reservation.Release()
}

func (d *Decoder) decodeFile(dst *Image, v *formats.Value, o DecodeOptions) error {
	enc, h, err := Inspect(v.Data)
	if err != nil {
		return err
	}
	d.header = h
	if err := checkSize(h, o.MaxPixels); err != nil {
		return err
	}
	region, err := o.storedRegion(h)
	if err != nil {
		return err
	}
	if err := d.reserve(decodeMemory(v.Data, enc, h, region, o)); err != nil {
		return err
	}
	target := dst
	turn := o.ApplyOrientation && h.Orientation != 1
	if turn {
		target = &d.scratch[1]
	}
	if err := d.decodeRegion(target, v.Data, enc, h, region, o); err != nil {
		return err
	}
	if turn {
		Orient(dst, target, h.Orientation)
		d.area = d.area.oriented(target.H, target.W, h.Orientation)
	}
	return nil
}

// decodeRegion makes dst the part r of data's pixels, as they lie in the file.
func (d *Decoder) decodeRegion(dst *Image, data []byte, enc formats.Encoding, h Header, r Rect, o DecodeOptions) error {
	switch {
	case enc == formats.JPEG:
		return d.decodeJPEG(dst, data, h, r, o)
	case r == Rect{W: h.W, H: h.H}:
		return d.decodeAs(dst, data, enc, h, o)
	}
	if err := d.decodeAs(&d.scratch[3], data, enc, h, o); err != nil {
		return err
	}
	d.scratch[3].crop(dst, r)
	return nil
}

// checkSize refuses a header that claims more than maxPixels.
func checkSize(h Header, maxPixels int) error {
	if maxPixels <= 0 {
		maxPixels = DefaultMaxPixels
	}
	if h.H > maxPixels/h.W {
		return fmt.Errorf("%w: %dx%d, the limit is %d", ErrTooLarge, h.W, h.H, maxPixels)
	}
	return nil
}

// decodeAs makes dst the pixels of data, which is no JPEG, in o.Color, as they lie in the file.
func (d *Decoder) decodeAs(dst *Image, data []byte, enc formats.Encoding, h Header, o DecodeOptions) (err error) {
	switch enc {
	case formats.WebP:
		return d.decodeWebP(dst, data, h, o.Color)
	case formats.BMP:
		return d.decodeBMP(dst, data, h, o)
	case formats.PNG:
		if d.decodeSimplePNG(dst, data, h, o) {
			return nil
		}
	}
	img, warning, err := decodeGeneric(&stopReader{*bytes.NewReader(data), d.stop}, data, enc, h, d.reserveMore)
	if err != nil {
		return err
	}
	d.warning = warning
	if p, ok := img.(*image.Paletted); ok && o.Indices {
		h.C, h.DType = 1, formats.Uint8
		img = &image.Gray{Pix: p.Pix, Stride: p.Stride, Rect: p.Rect}
		o.Color = ColorKeep
	}
	turn := 1
	if enc == formats.TIFF { // see Header.Orientation
		turn = tiffOrientation(data)
		h.H, h.W = orientedSize(h.H, h.W, turn)
	}
	if o.keeps(h) && turn == 1 {
		return fromStdlib(dst, img, h)
	}
	pixels := &d.scratch[0]
	if err := fromStdlib(pixels, img, h); err != nil {
		return err
	}
	if turn != 1 {
		pixels = &d.scratch[2]
		Orient(pixels, &d.scratch[0], turn)
	}
	d.convert(dst, pixels, o)
	return nil
}
