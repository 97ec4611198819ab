package codec

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// tiffColors is what the samples of a TIFF's pixels mean: Pillow's modes.
type tiffColors int

const (
	tiffGray     tiffColors = iota
	tiffSigned              // grey, signed integers
	tiffFloat               // grey, floats
	tiffAlpha               // grey and alpha
	tiffPalette             // an index, which alpha or something else may follow
	tiffColor               // red, green, blue
	tiffColorA              // red, green, blue, alpha
	tiffColorPre            // red, green, blue, multiplied by alpha, and alpha
	tiffCMYK                // cyan, magenta, yellow, black
	tiffYCbCr               // as the file has it
	tiffRGBX                // four bytes, which libtiff made of YCbCr
	tiffFromJPEG            // red, green, blue, which libjpeg made of YCbCr
)

// String names the colours of which 16 bits, or what is no integer, cannot be kept.
func (c tiffColors) String() string {
	switch c {
	case tiffSigned:
		return "signed integers"
	case tiffFloat:
		return "floats"
	case tiffColorPre:
		return "colours multiplied by alpha"
	case tiffCMYK:
		return "CMYK"
	}
	return "integers"
}

// Compressions.
const (
	tiffOldJPEG = 6
	tiffJPEG    = 7
)

// pillowsTIFF are the compressions that Pillow knows, but for WebP, which its wheels are built without.
var pillowsTIFF = []uint64{1, 2, 3, 4, 5, tiffOldJPEG, tiffJPEG, 8, 32771, 32773, 32809, 32946, 34676, 34677, 34925, 50000}

// tiffKind is how the pixels of a TIFF lie in it, as Pillow understands its tags.
type tiffKind struct {
	w, h        uint64 // as stored
	colors      tiffColors
	inverted    bool // 0 is white
	bits        int  // of a sample
	samples     int  // of a pixel, also those that are not used
	planes      int  // 1 if the samples of a pixel lie together, otherwise the planes that are read
	compression uint64
	orientation int
	block       uint64 // bytes of the largest strip or tile, at least
}

// rowBytes is the size of a row of a plane.
func (k *tiffKind) rowBytes() uint64 {
	samples := uint64(k.samples)
	if k.planes > 1 {
		samples = 1
	}
	return (k.w*samples*uint64(k.bits) + 7) / 8
}

// rawBytes is the size of the pixels as libtiff returns them.
func (k *tiffKind) rawBytes() uint64 { return k.rowBytes() * k.h * uint64(k.planes) }

// tiffKindOf finds the kind. ErrUnsupported is in the chain of the error for one that Pillow does not read either.
func tiffKindOf(t *exif.Tags) (k tiffKind, err error) {
	var lists [4][]uint64 // sample format, bits, extra samples, samples
	k.compression = t.Value(tagCompression, 1)
	photometric := t.Value(exif.TagPhotometric, 0)
	if k.compression == tiffOldJPEG {
		photometric = 6
	}
	samples := uint64(1)
	if k.compression == tiffOldJPEG {
		samples = 3
	}
	for i, of := range []struct {
		tag       uint16
		otherwise []uint64
	}{{tagSampleFormat, []uint64{1}}, {exif.TagBits, []uint64{1}}, {exif.TagExtraSamples, nil}, {exif.TagSamples, []uint64{samples}}} {
		if lists[i], err = t.List(of.tag, of.otherwise...); err != nil {
			return k, err
		}
	}
	format, bits, extra, samples := lists[0], lists[1], lists[2], lists[3][0]
	k.w, k.h = t.Value(exif.TagWidth, 0), t.Value(exif.TagHeight, 0)
	k.orientation = 1
	if o := t.Value(exif.TagOrientation, 1); o >= 1 && o <= 8 {
		k.orientation = int(o)
	}
	if k.w > math.MaxInt32 || k.h > math.MaxInt32 {
		return k, fmt.Errorf("%w: a TIFF of %dx%d", pixel.ErrTooLarge, k.w, k.h)
	}
	separate := t.Value(tagPlanar, 1) == 2
	unread := separate && len(extra) > 0 && slices.Max(extra) == 0
	if unread { // planes at the end
		bits, samples = bits[:max(0, len(bits)-len(extra))], samples-uint64(len(extra))
		extra = nil
	}
	if bits, err = bitsOfSamples(bits, samples); err != nil {
		return k, err
	}
	k.bits, k.samples, k.planes = int(bits[0]), len(bits), 1
	layout := tiffLayout{photometric: photometric, format: format, extra: extra, fill: t.Value(tagFillOrder, 1), little: t.Order.Uint16([]byte{1, 0}) == 1, separate: separate, unread: unread}
	if !same(format) || !same(bits) || !layout.colors(&k) || !slices.Contains(pillowsTIFF, k.compression) {
		return k, fmt.Errorf("%w: a TIFF of photometric %d, %d samples of %d bits, format %d, extra samples %v, fill order %d, compression %d",
			pixel.ErrUnsupported, photometric, len(bits), bits[0], format[0], extra, layout.fill, k.compression)
	}
	if err := k.arrange(t, &layout); err != nil {
		return k, err
	}
	k.block = k.blockBytes(t)
	return k, nil
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

// bitsOfSamples returns the bits of each sample: one number stands for all.
func bitsOfSamples(bits []uint64, samples uint64) ([]uint64, error) {
	switch {
	case samples == 0 || samples > 6 || len(bits) == 0:
		return nil, fmt.Errorf("%w: a TIFF of %d samples", pixel.ErrUnsupported, samples)
	case samples < uint64(len(bits)):
		bits = bits[:samples]
	case len(bits) == 1:
		bits = slices.Repeat(bits, int(samples))
	case samples > uint64(len(bits)):
		return nil, fmt.Errorf("%w: a TIFF of %d samples with the bits of %d", pixel.ErrUnsupported, samples, len(bits))
	}
	return bits, nil
}

// arrange decides how YCbCr and separate planes are read, as Pillow does.
func (k *tiffKind) arrange(t *exif.Tags, l *tiffLayout) error {
	stored := k.compression == tiffUncompressed
	if swapped := k.colors == tiffSigned || k.colors == tiffFloat; swapped && !stored && !l.little {
		return fmt.Errorf("%w: a compressed big-endian TIFF of signed integers or floats, whose bytes Pillow swaps", pixel.ErrUnsupported)
	}
	if k.colors == tiffYCbCr && !stored {
		k.colors, k.samples, k.bits = tiffRGBX, 4, 8
		if k.compression == tiffJPEG && !l.separate {
			k.colors, k.samples = tiffFromJPEG, 3
		}
		return nil
	}
	if k.colors == tiffYCbCr {
		sampling, err := t.List(tagYCbCrSubsampling, 2, 2)
		if err != nil || l.separate || len(sampling) < 2 || sampling[0] != 1 || sampling[1] != 1 {
			return fmt.Errorf("%w: a TIFF of uncompressed YCbCr, subsampled or in planes", pixel.ErrUnsupported)
		}
	}
	if !l.separate {
		return nil
	}
	return k.separate(l)
}

// separate is arrange for samples in planes, of which Pillow reads fewer kinds.
func (k *tiffKind) separate(l *tiffLayout) error {
	stored := k.compression == tiffUncompressed
	k.planes = k.samples
	if k.channels() == 1 {
		if stored && (k.bits != 8 || k.inverted || l.fill != 1) {
			return fmt.Errorf("%w: an uncompressed TIFF of %d bits in planes", pixel.ErrUnsupported, k.bits)
		}
		return nil
	}
	if k.colors == tiffColorA && len(l.extra) == 0 && !stored { // libtiff calls it unspecified, and Pillow divides it out
		k.colors = tiffColorPre
	}
	if k.samples > 4 || stored && (k.bits == 16 || l.unread || k.colors == tiffColorPre && len(l.extra) > 0) {
		return fmt.Errorf("%w: a TIFF of %d samples of %d bits in planes", pixel.ErrUnsupported, k.samples, k.bits)
	}
	return nil
}

// tiffLayout is what decides the colours of a TIFF.
type tiffLayout struct {
	photometric, fill uint64
	format, extra     []uint64
	little            bool // little-endian
	separate, unread  bool // the samples lie in planes; some of them are not read
}

// colors sets what the samples mean, and reports whether Pillow knows them: its table OPEN_INFO.
func (l *tiffLayout) colors(k *tiffKind) bool {
	format, plain := l.format[0], len(l.extra) == 0
	packed := k.bits == 1 || k.bits == 2 || k.bits == 4 || k.bits == 8
	switch l.photometric {
	case 0, 1:
		k.inverted = l.photometric == 0 && packed
		if k.inverted && k.bits == 8 && l.fill == 2 && k.compression == tiffUncompressed {
			return false // Pillow has no such raw mode
		}
		if k.samples == 2 {
			return l.photometric == 1 && k.bits == 8 && format == 1 && l.fill == 1 && l.alpha(k)
		}
		return k.samples == 1 && plain && l.gray(k, packed, format)
	case 2:
		return format == 1 && l.color(k)
	case 3:
		k.colors = tiffPalette
		first := append(l.extra, 99)[0]
		reversed := l.fill == 2 && (k.bits == 8 || k.compression != tiffUncompressed)
		return format == 1 && (k.samples == 1 && plain && packed && (l.fill == 1 || reversed) ||
			k.samples == 2 && k.bits == 8 && l.fill == 1 && len(l.extra) == 1 && (first == 0 || first == 2))
	case 5:
		k.colors = tiffCMYK
		return format == 1 && l.fill == 1 && len(l.extra) == k.samples-4 && len(l.extra) <= 2 && allZero(l.extra) && (k.bits == 8 || k.bits == 16 && plain)
	case 6:
		k.colors = tiffYCbCr
		return format == 1 && l.fill == 1 && k.bits == 8 && plain && k.samples == 3
	}
	return false
}

// gray is colors for one grey sample.
func (l *tiffLayout) gray(k *tiffKind, packed bool, format uint64) bool {
	black := l.photometric == 1
	switch {
	case format == 2 && k.bits == 8:
		return black && l.fill == 1
	case format == 1 && packed:
		return l.fill == 1 || l.fill == 2
	case format == 1 && k.bits == 12:
		return black && l.little && l.fill == 1
	case format == 1 && k.bits == 16:
		return l.fill == 1 && (black || l.little) || l.fill == 2 && black && l.little
	case format == 1 && k.bits == 32:
		return black && l.little && l.fill == 1
	case format == 2 && (k.bits == 16 || k.bits == 32):
		k.colors = tiffSigned
		return black && l.fill == 1
	case format == 3 && k.bits == 32:
		k.colors = tiffFloat
		return l.fill == 1
	}
	return false
}

// alpha is colors for grey and another sample. Pillow does not convert grey that is multiplied by alpha.
func (l *tiffLayout) alpha(k *tiffKind) bool {
	if len(l.extra) != 1 {
		return false
	}
	if l.extra[0] == 2 {
		k.colors = tiffAlpha
	}
	return l.extra[0] == 0 || l.extra[0] == 2
}

// color is colors for red, green and blue.
func (l *tiffLayout) color(k *tiffKind) bool {
	k.colors = tiffColor
	if k.samples == 3 {
		return len(l.extra) == 0 && (k.bits == 8 && (l.fill == 1 || l.fill == 2) || k.bits == 16 && l.fill == 1)
	}
	if l.fill != 1 || k.samples < 4 || k.bits != 8 && (k.bits != 16 || k.samples != 4) {
		return false
	}
	if len(l.extra) == 0 && k.samples == 4 {
		k.colors = tiffColorA
		return true
	}
	if len(l.extra) != k.samples-3 || !allZero(l.extra[1:]) {
		return false
	}
	switch first := l.extra[0]; {
	case first == 1:
		k.colors = tiffColorPre
	case first == 2, first == 999 && k.samples == 4 && k.bits == 8:
		k.colors = tiffColorA
	case first != 0:
		return false
	}
	return true
}

func allZero(list []uint64) bool {
	return !slices.ContainsFunc(list, func(v uint64) bool { return v != 0 })
}

// channels is the number of channels that the pixels of a kind have, without conversion.
func (k *tiffKind) channels() int {
	switch k.colors {
	case tiffGray, tiffSigned, tiffFloat:
		return 1
	case tiffAlpha:
		return 2
	case tiffColorA, tiffColorPre:
		return 4
	}
	return 3
}

// header is the header of an image of this kind.
func (k *tiffKind) header() pixel.Header {
	h := pixel.Header{H: int(k.h), W: int(k.w), C: k.channels(), DType: formats.Uint8, Orientation: 1, Palette: k.colors == tiffPalette}
	switch k.colors {
	case tiffSigned, tiffFloat:
		h.DType = formats.Uint16
	case tiffGray, tiffColor, tiffColorA:
		if k.bits > 8 {
			h.DType = formats.Uint16
		}
	}
	h.H, h.W = pixel.OrientedSize(h.H, h.W, k.orientation)
	return h
}

// same reports whether all values are the first.
func same(values []uint64) bool {
	return !slices.ContainsFunc(values, func(v uint64) bool { return v != values[0] })
}
