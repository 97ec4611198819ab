package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/exif"

	"github.com/dsconv/dsconv/formats"
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
	tiffUncompressed    = 1
	tiffDeflateOld      = 32946
	tiffPackBits        = 32773
)

var errNoColorMap = fmt.Errorf("%w: a TIFF with a palette and no colours", pixel.ErrCorrupt)

// decodeTIFF decodes a TIFF. h is its header.
func (d *Decoder) decodeTIFF(dst *pixel.Image, data []byte, h pixel.Header, o DecodeOptions) error {
	t, err := exif.ReadTags(data)
	if err != nil {
		return err
	}
	k, err := tiffKindOf(&t)
	if err != nil {
		return err
	}
	if err := checkRegularTIFF(&t, &k); err != nil {
		return err
	}
	if need := k.rawBytes() / libtiffRatio(k.compression); need > uint64(len(data)) {
		return fmt.Errorf("%w: %d bytes cannot hold a TIFF of %dx%d", pixel.ErrTruncated, len(data), k.w, k.h)
	}
	u := tiffUnpacker{tiffKind: &k, indices: o.Indices && k.colors == tiffPalette}
	switch {
	case u.indices:
		h.C, h.DType, o.Color = 1, formats.Uint8, pixel.ColorKeep
	case k.colors == tiffYCbCr && o.Color == pixel.ColorGray: // the luma, as Pillow takes it
		h.C, k.colors = 1, tiffGray
	case k.colors == tiffPalette:
		if u.palette, err = tiffPaletteOf(&t); err != nil {
			return err
		}
	}
	target := &d.scratch[0]
	if o.keeps(h) && k.orientation == 1 {
		target = dst
	}
	target.Reset(int(k.h), int(k.w), h.C, h.DType)
	if err := d.samplesOfTIFF(target, data, &u); err != nil {
		return err
	}
	if err := u.kept(o); err != nil {
		return err
	}
	d.narrowed = u.narrowed()
	if k.orientation != 1 {
		turned := &d.scratch[2]
		if o.keeps(h) {
			turned = dst
		}
		if err := pixel.Orient(turned, target, k.orientation); err != nil {
			return err
		}
		target = turned
	}
	if target == dst {
		return nil
	}
	return d.convert(dst, target, o)
}

// samplesOfTIFF decodes the pixels of a TIFF to m.
func (d *Decoder) samplesOfTIFF(m *pixel.Image, data []byte, u *tiffUnpacker) error {
	if u.direct() {
		return rawTIFF(m.Pix, data, u.tiffKind, d.stop)
	}
	n := int(u.rawBytes())
	if cap(d.tiff) < n {
		d.tiff = make([]byte, n)
	}
	u.raw = d.tiff[:n]
	if err := rawTIFF(u.raw, data, u.tiffKind, d.stop); err != nil {
		return err
	}
	if u.colors == tiffRGBX {
		for i := range u.w * u.h {
			copy(m.Pix[3*i:3*i+3], u.raw[4*i:])
		}
		return nil
	}
	u.unpack(m)
	u.noteCut()
	return nil
}

// tiffMemory is the bytes per pixel that decoding a TIFF takes in addition to its pixels, and those of its blocks: as
// the file has them, as they are decompressed, and what a decoder of JPEG or WebP takes.
func tiffMemory(data []byte) (perPixel int, blocks int64) {
	t, err := exif.ReadTags(data)
	if err != nil {
		return 0, 0
	}
	k, err := tiffKindOf(&t)
	if err != nil {
		return 0, 0 // the decoder reports it
	}
	if !k.direct() {
		perPixel = (k.samples*k.bits + 7) / 8
	}
	if k.orientation != 1 {
		h := k.header()
		perPixel += h.C * h.DType.Size()
	}
	return perPixel, 3 * int64(k.block)
}

// libtiffRatio is more than the bytes that a compressed byte of a whole file can hold, so that no memory is taken for a
// false claim.
func libtiffRatio(compression uint64) uint64 {
	switch compression {
	case tiffUncompressed, 32771:
		return 1
	case tiffPackBits:
		return 64
	case 5:
		return 4096
	case 8, tiffDeflateOld:
		return 1040
	case tiffOldJPEG, tiffJPEG:
		return 2048
	}
	return 1 << 16
}
