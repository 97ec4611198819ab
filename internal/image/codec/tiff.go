package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// More TIFF tags.
const (
	tagCompression      = 259
	tagFillOrder        = 266
	tagStripOffsets     = 273
	tagRowsPerStrip     = 278
	tagStripSizes       = 279
	tagPlanar           = 284
	tagYCbCrSubsampling = 530
	tagPredictor        = 317
	tagColorMap         = 320
	tagTileWidth        = 322
	tagTileHeight       = 323
	tagTileOffsets      = 324
	tagTileSizes        = 325
	tagSampleFormat     = 339
	tiffRGB             = 2
	tiffPremultiplied   = 1 // alpha, which Pillow divides out
	tiffUncompressed    = 1
	tiffDeflateOld      = 32946
	tiffPackBits        = 32773
)

// tiffDirectory is a TIFF's first directory, with what it says of the strips or tiles.
type tiffDirectory struct{ exif.Directory }

func firstTIFF(data []byte) (tiffDirectory, error) {
	d, err := exif.FirstIFD(data)
	return tiffDirectory{d}, err
}

// find returns the type and count of a tag.
func (d tiffDirectory) find(tag uint16) (typ uint16, count int64, ok bool) {
	e := d.Entry(tag)
	if e == nil {
		return 0, 0, false
	}
	return d.Order.Uint16(e[2:]), int64(d.Order.Uint32(e[4:])), true
}

// list returns the count values of a tag of type SHORT or LONG.
func (d tiffDirectory) list(tag uint16, count int64) ([]int64, error) {
	typ, n, ok := d.find(tag)
	if !ok || n != count || typ != exif.TypeShort && typ != exif.TypeLong {
		return nil, fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, n)
	}
	size, at := int64(typ-2)*2, d.Entry(tag)[8:]
	if size*n > 4 {
		off := int64(d.Order.Uint32(at))
		if off+size*n > int64(len(d.Data)) {
			return nil, fmt.Errorf("%w: the values of TIFF tag %d lie past the end of the file", pixel.ErrTruncated, tag)
		}
		at = d.Data[off:]
	}
	v := make([]int64, n)
	for i := range v {
		if size == 2 {
			v[i] = int64(d.Order.Uint16(at[2*i:]))
		} else {
			v[i] = int64(d.Order.Uint32(at[4*i:]))
		}
	}
	return v, nil
}

// checkTIFF accepts the TIFFs that Go's decoder reads as libtiff does. TIFF has thousands of variants:
// the others are unsupported rather than decoded differently.
func checkTIFF(data []byte) error {
	d, err := firstTIFF(data)
	if err != nil {
		return err
	}
	if err := d.sorted(); err != nil {
		return err
	}
	for _, tag := range []uint16{exif.TagWidth, exif.TagHeight, tagCompression, exif.TagPhotometric, tagFillOrder, exif.TagOrientation, exif.TagSamples, tagRowsPerStrip, tagPlanar, tagPredictor} {
		if _, _, ok := d.find(tag); !ok && tag > exif.TagPhotometric {
			continue
		}
		if _, err := d.list(tag, 1); err != nil {
			return err
		}
	}
	samples := int64(d.Value(exif.TagSamples, 1))
	bits, err := d.list(exif.TagBits, samples)
	if err != nil {
		return err
	}
	for _, b := range bits {
		if b != bits[0] {
			return fmt.Errorf("%w: TIFF samples of different depths", pixel.ErrUnsupported)
		}
	}
	if err := d.kind(samples, bits[0]); err != nil {
		return err
	}
	return d.strips(samples * bits[0])
}

func (d tiffDirectory) sorted() error {
	if len(d.Entries)%12 != 0 || len(d.Entries) == 0 {
		return fmt.Errorf("%w: in the TIFF directory", pixel.ErrTruncated)
	}
	for e := d.Entries; len(e) > 12; e = e[12:] {
		if d.Order.Uint16(e) >= d.Order.Uint16(e[12:]) {
			return fmt.Errorf("%w: a TIFF directory out of order", pixel.ErrUnsupported)
		}
	}
	return nil
}

// kind checks colours, depth and compression.
func (d tiffDirectory) kind(samples, bits int64) error {
	photometric, compression := d.Value(exif.TagPhotometric, -1), d.Value(tagCompression, -1)
	ok := false
	switch photometric {
	case exif.Gray, exif.GrayInverted:
		ok = samples == 1 && (bits == 8 || bits == 1 || bits == 16 && photometric == exif.Gray) // Pillow does not invert 16
	case tiffRGB:
		ok = (samples == 3 || samples == 4) && (bits == 8 || bits == 16)
	case exif.Palette:
		typ, n, _ := d.find(tagColorMap)
		ok = samples == 1 && bits == 8 && typ == exif.TypeShort && n == 3<<bits
	}
	if !ok {
		return fmt.Errorf("%w: a TIFF of photometric %d, %d samples of %d bits", pixel.ErrUnsupported, photometric, samples, bits)
	}
	predictor, planar, order := d.Value(tagPredictor, 1), d.Value(tagPlanar, 1), d.Value(tagFillOrder, 1)
	if predictor < 1 || predictor > 2 || planar != 1 || order != 1 {
		return fmt.Errorf("%w: a TIFF of predictor %d, planar configuration %d, fill order %d", pixel.ErrUnsupported, predictor, planar, order)
	}
	if extra, n, found := d.find(exif.TagExtraSamples); found != (samples == 4) || found && (extra != exif.TypeShort || n != 1 || d.Value(exif.TagExtraSamples, 0) == tiffPremultiplied) {
		return fmt.Errorf("%w: a TIFF of %d samples, %d of them extra", pixel.ErrUnsupported, samples, n)
	}
	if _, _, found := d.find(tagSampleFormat); found {
		formats, err := d.list(tagSampleFormat, samples)
		if err != nil {
			return err
		}
		for _, f := range formats {
			if f != 1 {
				return fmt.Errorf("%w: TIFF sample format %d", pixel.ErrUnsupported, f)
			}
		}
	}
	if tiffRatio(compression) == 0 {
		return fmt.Errorf("%w: TIFF compression %d", pixel.ErrUnsupported, compression)
	}
	return nil
}

// tiffRatio is how many bytes a compressed byte can hold, 0 if the compression is not supported.
func tiffRatio(compression int) int64 {
	switch compression {
	case tiffUncompressed:
		return 1
	case 2, 3, 4: // fax: a bit for a row
		return 1 << 16
	case 5: // LZW
		return 4096
	case 8, tiffDeflateOld:
		return 1040
	case tiffPackBits:
		return 64
	}
	return 0
}
