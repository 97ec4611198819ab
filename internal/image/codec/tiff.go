package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
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

// single are the tags that have one value.
var single = []uint16{
	exif.TagWidth, exif.TagHeight, tagCompression, exif.TagPhotometric, tagFillOrder, exif.TagOrientation, exif.TagSamples,
	tagRowsPerStrip, tagPlanar, tagPredictor,
}

// checkRegularTIFF returns an error for a TIFF whose directory is irregular: libtiff and Pillow, which has a reader of its
// own for the tags, would guess in different ways.
func checkRegularTIFF(t *exif.Tags, k *tiffKind) error {
	size := 12
	if t.Big {
		size = 20
	}
	if len(t.Entries) == 0 || t.Cut {
		return fmt.Errorf("%w: in the TIFF directory", pixel.ErrTruncated)
	}
	for e := t.Entries; len(e) > size; e = e[size:] {
		if t.Order.Uint16(e) >= t.Order.Uint16(e[size:]) {
			return fmt.Errorf("%w: a TIFF directory out of order", pixel.ErrUnsupported)
		}
	}
	for _, tag := range single {
		if typ, n, _, ok := t.Entry(tag); ok && (n != 1 || typ != exif.TypeShort && typ != exif.TypeLong) {
			return fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, n)
		}
	}
	if k.compression == tiffOldJPEG {
		return nil // it may have no strips
	}
	_, err := tiffBlocksOf(t, k)
	return err
}

// tiffBlocks are the strips or tiles of a TIFF, row by row and plane by plane.
type tiffBlocks struct {
	w, rows       uint64 // of one, in pixels
	across, down  uint64 // how many there are in a plane
	n             uint64 // in all planes
	tiled         bool
	row           uint64 // bytes of a row of one
	offsets, size func(i uint64) uint64
}

// need is the size of block i before it is compressed.
func (b *tiffBlocks) need(i, h uint64) uint64 {
	if last := i/b.across%b.down == b.down-1; last && !b.tiled {
		return b.row * (h - (b.down-1)*b.rows)
	}
	return b.row * b.rows
}

// tiffBlocksOf returns an error if the strips or tiles are not as many as the pixels need, if one does not lie in the
// file, or if it cannot hold its pixels.
func tiffBlocksOf(t *exif.Tags, k *tiffKind) (b tiffBlocks, err error) {
	block := *k
	b.rows = k.h
	offsetTag, sizeTag := uint16(tagStripOffsets), uint16(tagStripSizes)
	if _, _, _, b.tiled = t.Entry(tagTileWidth); b.tiled {
		block.w, b.rows = t.Value(tagTileWidth, 0), t.Value(tagTileHeight, 0)
		offsetTag, sizeTag = tagTileOffsets, tagTileSizes
	} else {
		b.rows = min(b.rows, t.Value(tagRowsPerStrip, b.rows))
	}
	if b.w = block.w; k.w < 1 || k.h < 1 || b.w < 1 || b.rows < 1 || b.w > 1<<24 || b.rows > 1<<24 {
		return b, fmt.Errorf("%w: a TIFF of %dx%d in blocks of %dx%d", pixel.ErrUnsupported, k.w, k.h, b.w, b.rows)
	}
	b.across, b.down = (k.w+b.w-1)/b.w, (k.h+b.rows-1)/b.rows
	b.n = b.across * b.down
	if t.Value(tagPlanar, 1) == 2 {
		b.n *= max(1, t.Value(exif.TagSamples, 1))
	}
	if b.row = block.rowBytes(); k.colors == tiffRGBX {
		b.row = b.w // the least that subsampled YCbCr takes
	}
	if b.offsets, err = blockValues(t, offsetTag, b.n); err != nil {
		return b, err
	}
	if b.size, err = blockValues(t, sizeTag, b.n); err != nil {
		return b, err
	}
	for i := range b.n {
		offset, size, end := b.offsets(i), b.size(i), uint64(len(t.Data))
		if offset > end || size > end-offset || b.need(i, k.h)/libtiffRatio(k.compression) > size {
			return b, fmt.Errorf("%w: block %d of the TIFF", pixel.ErrTruncated, i)
		}
	}
	return b, nil
}

// blockValues returns a function that reads value i of a tag with n values.
func blockValues(t *exif.Tags, tag uint16, n uint64) (func(i uint64) uint64, error) {
	typ, count, b, ok := t.Entry(tag)
	width := exif.Width(typ)
	if !ok || count != n || width < 2 {
		return nil, fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, count)
	}
	if n > uint64(len(b))/width {
		return nil, fmt.Errorf("%w: the values of TIFF tag %d lie past the end of the file", pixel.ErrTruncated, tag)
	}
	return func(i uint64) uint64 { return t.Number(b, i, width) }, nil
}
