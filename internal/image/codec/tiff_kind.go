package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// More TIFF tags.
const (
	tagCompression  = 259
	tagFillOrder    = 266
	tagStripOffsets = 273
	tagRowsPerStrip = 278
	tagStripSizes   = 279
	tagPlanar       = 284
	tagPredictor    = 317
	tagColorMap     = 320
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTileOffsets  = 324
	tagTileSizes    = 325
	tagSampleFormat = 339
)

// tiffJPEG is a compression.
const tiffJPEG = 7

// tiffRatios are the compressions that are read: none, CCITT, LZW, JPEG, deflate, PackBits, LZMA and zstd. Each has
// more than the bytes that a compressed byte of a whole file can hold, so that no memory is taken for a false claim.
var tiffRatios = map[uint64]uint64{
	1: 1, 2: 1 << 16, 3: 1 << 16, 4: 1 << 16, 5: 4096, tiffJPEG: 2048, 8: 1040, 32946: 1040, 32773: 64, 34925: 1 << 16, 50000: 1 << 16,
}

// tiffColors is what the samples of a TIFF's pixels mean: Pillow's modes.
type tiffColors int

const (
	tiffGray    tiffColors = iota
	tiffAlpha              // grey and alpha
	tiffPalette            // an index
	tiffColor              // red, green, blue, and perhaps a sample that is not used
	tiffColorA             // red, green, blue, alpha
	tiffYCbCr              // JPEG, of which libjpeg makes red, green, blue
)

// tiffKind is how the pixels of a TIFF lie in it, as Pillow understands its tags.
type tiffKind struct {
	w, h        uint64 // as stored
	colors      tiffColors
	inverted    bool // 0 is white
	bits        int  // of a sample
	samples     int  // of a pixel, also those that are not used
	compression uint64
	orientation int
	block       uint64 // bytes of the largest strip or tile, at least
}

// rowBytes is the size of a row.
func (k *tiffKind) rowBytes() uint64 { return (k.w*uint64(k.samples)*uint64(k.bits) + 7) / 8 }

// rawBytes is the size of the pixels as libtiff returns them.
func (k *tiffKind) rawBytes() uint64 { return k.rowBytes() * k.h }

// tiffKindOf finds the kind. ErrUnsupported is in the chain of the error for one that is not read.
func tiffKindOf(t *exif.Tags) (k tiffKind, err error) {
	format, formatErr := t.List(tagSampleFormat, 1)
	bits, bitsErr := t.List(exif.TagBits, 1)
	extra, extraErr := t.List(exif.TagExtraSamples)
	for _, err := range []error{formatErr, bitsErr, extraErr} {
		if err != nil {
			return k, err
		}
	}
	k.w, k.h, k.samples = t.Value(exif.TagWidth, 0), t.Value(exif.TagHeight, 0), int(min(t.Value(exif.TagSamples, 1), 8))
	k.compression, k.bits, k.orientation = t.Value(tagCompression, 1), int(min(bits[0], 64)), 1
	if o := t.Value(exif.TagOrientation, 1); o >= 1 && o <= 8 {
		k.orientation = int(o)
	}
	if k.w > math.MaxInt32 || k.h > math.MaxInt32 {
		return k, fmt.Errorf("%w: a TIFF of %dx%d", pixel.ErrTooLarge, k.w, k.h)
	}
	photometric, fill, planar := t.Value(exif.TagPhotometric, 0), t.Value(tagFillOrder, 1), t.Value(tagPlanar, 1)
	if !all(format, 1) || !all(bits, bits[0]) || len(bits) != 1 && len(bits) != k.samples || fill != 1 || planar != 1 ||
		tiffRatios[k.compression] == 0 || !k.setColors(photometric, extra) {
		return k, unsupported("a TIFF of photometric %d, %d samples of %d bits, format %d, extra samples %v, fill order %d, planes %d, compression %d",
			photometric, k.samples, bits[0], format[0], extra, fill, planar, k.compression)
	}
	k.block = k.blockBytes(t)
	return k, nil
}

// all reports whether all values are one.
func all(values []uint64, one uint64) bool {
	return !slices.ContainsFunc(values, func(v uint64) bool { return v != one })
}

// blockBytes is about the size of the largest strip or tile. Subsampled ones are padded.
func (k *tiffKind) blockBytes(t *exif.Tags) uint64 {
	const most = 1 << 24 // pixels of a side
	of := *k
	rows := min(t.Value(tagRowsPerStrip, k.h), k.h)
	if w, h := t.Value(tagTileWidth, 0), t.Value(tagTileHeight, 0); w > 0 && h > 0 {
		of.w, rows = w, h
	}
	of.w = min(of.w, most)
	n := of.rowBytes() * min(rows, most)
	return n + n/4 + 1<<16
}

// setColors sets what the samples mean, and reports whether they are read: the common part of Pillow's table OPEN_INFO.
func (k *tiffKind) setColors(photometric uint64, extra []uint64) bool {
	packed := k.bits == 1 || k.bits == 2 || k.bits == 4 || k.bits == 8
	plain, whole := len(extra) == 0, k.bits == 8 || k.bits == 16
	switch {
	case photometric <= 1 && k.samples == 1:
		k.inverted = photometric == 0
		return plain && (packed || k.bits == 16 && !k.inverted)
	case photometric == 1 && k.samples == 2:
		k.colors = tiffAlpha
		return k.bits == 8 && slices.Equal(extra, []uint64{2})
	case photometric == 2 && k.samples == 3:
		k.colors = tiffColor
		return plain && whole
	case photometric == 2 && k.samples == 4:
		if k.colors = tiffColorA; slices.Equal(extra, []uint64{0}) {
			k.colors = tiffColor
		}
		return whole && (len(extra) <= 1 && all(extra, 0) || slices.Equal(extra, []uint64{2}))
	case photometric == 3 && k.samples == 1:
		k.colors = tiffPalette
		return plain && packed
	}
	k.colors = tiffYCbCr
	return photometric == 6 && k.compression == tiffJPEG && k.samples == 3 && plain && k.bits == 8
}

// channels is the number of channels that the pixels of a kind have, without conversion.
func (k *tiffKind) channels() int {
	switch k.colors {
	case tiffGray:
		return 1
	case tiffAlpha:
		return 2
	case tiffColorA:
		return 4
	}
	return 3
}

// direct reports whether the raw samples are the pixels.
func (k *tiffKind) direct() bool {
	whole := k.bits == 8 || k.bits == 16 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return whole && !k.inverted && k.samples == k.channels()
}

// header is the header of an image of this kind.
func (k *tiffKind) header() pixel.Header {
	h := pixel.Header{H: int(k.h), W: int(k.w), C: k.channels(), DType: formats.Uint8, Orientation: 1, Palette: k.colors == tiffPalette}
	if k.bits > 8 {
		h.DType = formats.Uint16
	}
	h.H, h.W = pixel.OrientedSize(h.H, h.W, k.orientation)
	return h
}

// inspectTIFF reads the header of a TIFF. Its orientation is applied to the size.
func inspectTIFF(data []byte) (pixel.Header, error) {
	t, err := exif.ReadTags(data)
	if err != nil {
		return pixel.Header{}, err
	}
	k, err := tiffKindOf(&t)
	if err != nil {
		return pixel.Header{}, err
	}
	return k.header(), nil
}
