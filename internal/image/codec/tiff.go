package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/exif"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

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
	if need := k.rawBytes() / tiffRatios[k.compression]; need > uint64(len(data)) {
		return fmt.Errorf("%w: %d bytes cannot hold a TIFF of %dx%d", pixel.ErrTruncated, len(data), k.w, k.h)
	}
	var palette [][3]byte
	if k.colors == tiffPalette {
		if palette, err = tiffPaletteOf(&t); err != nil {
			return err
		}
		if o.Indices {
			palette, h.C, o.Color = nil, 1, pixel.ColorKeep
		}
	}
	target := &d.scratch[0]
	if o.keeps(h) && k.orientation == 1 {
		target = dst
	}
	target.Reset(int(k.h), int(k.w), h.C, h.DType)
	raw := target.Pix
	if !k.direct() {
		d.tiff = buffer.Grow(d.tiff, int(k.rawBytes()))
		raw = d.tiff
	}
	if err := rawTIFF(raw, data, &k, d.stop); err != nil {
		return err
	}
	if !k.direct() {
		k.unpack(target, raw, palette)
	}
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

// tiffMemory is the bytes per pixel that decoding a TIFF takes in addition to its pixels, and those of its blocks: as
// the file has them, as they are decompressed, and what a decoder of JPEG takes.
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

// unpack writes the pixels to dst: colours of the palette, or indices if it is nil.
func (k *tiffKind) unpack(dst *pixel.Image, raw []byte, palette [][3]byte) {
	scale, mask := byte(1), byte(0)
	if k.colors == tiffGray && k.bits < 8 {
		scale = 255 / (1<<k.bits - 1)
	}
	if k.inverted {
		mask = 255
	}
	for y := range dst.H {
		out, row := dst.Pix[y*dst.Stride():][:dst.Stride()], raw[uint64(y)*k.rowBytes():]
		if k.samples > 1 || k.bits > 8 {
			k.copyChannels(out, row, dst.C)
			continue
		}
		for x := range dst.W {
			bit := x * k.bits
			v := row[bit/8] >> (8 - k.bits - bit%8) & (1<<k.bits - 1)
			switch {
			case palette == nil:
				out[x] = v*scale ^ mask
			case int(v) < len(palette):
				copy(out[3*x:3*x+3], palette[v][:])
			default:
				clear(out[3*x : 3*x+3])
			}
		}
	}
}

// copyChannels copies the samples of a row of pixels, without one that is not used.
func (k *tiffKind) copyChannels(out, row []byte, channels int) {
	for x := range int(k.w) {
		for c := range channels {
			if from, to := x*k.samples+c, x*channels+c; k.bits == 16 {
				binary.LittleEndian.PutUint16(out[2*to:], binary.NativeEndian.Uint16(row[2*from:]))
			} else {
				out[to] = row[from]
			}
		}
	}
}

// tiffPaletteOf reads the colours of a palette. Pillow keeps their high bytes.
func tiffPaletteOf(t *exif.Tags) ([][3]byte, error) {
	values, err := t.List(tagColorMap)
	if err != nil {
		return nil, err
	}
	n := len(values) / 3
	if n == 0 {
		return nil, fmt.Errorf("%w: a TIFF with a palette and no colours", pixel.ErrCorrupt)
	}
	colors := make([][3]byte, min(n, 256))
	for i := range colors {
		for c := range 3 {
			colors[i][c] = byte(values[c*n+i] >> 8)
		}
	}
	return colors, nil
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
	return checkTIFFBlocks(t, k)
}

// checkTIFFBlocks returns an error if the strips or tiles are not as many as the pixels need, if one does not lie in the
// file, or if it cannot hold its pixels.
func checkTIFFBlocks(t *exif.Tags, k *tiffKind) error {
	block, rows := *k, min(k.h, t.Value(tagRowsPerStrip, k.h))
	offsetTag, sizeTag := uint16(tagStripOffsets), uint16(tagStripSizes)
	_, _, _, tiled := t.Entry(tagTileWidth)
	if tiled {
		block.w, rows = t.Value(tagTileWidth, 0), t.Value(tagTileHeight, 0)
		offsetTag, sizeTag = tagTileOffsets, tagTileSizes
	}
	if k.w < 1 || k.h < 1 || block.w < 1 || rows < 1 || block.w > 1<<24 || rows > 1<<24 {
		return fmt.Errorf("%w: a TIFF of %dx%d in blocks of %dx%d", pixel.ErrUnsupported, k.w, k.h, block.w, rows)
	}
	across, down := (k.w+block.w-1)/block.w, (k.h+rows-1)/rows
	offsets, err := blockValues(t, offsetTag, across*down)
	if err != nil {
		return err
	}
	sizes, err := blockValues(t, sizeTag, across*down)
	if err != nil {
		return err
	}
	for i := range across * down {
		need := block.rowBytes() * rows
		if i/across == down-1 && !tiled {
			need = block.rowBytes() * (k.h - (down-1)*rows)
		}
		offset, size, end := offsets(i), sizes(i), uint64(len(t.Data))
		if offset > end || size > end-offset || need/tiffRatios[k.compression] > size {
			return fmt.Errorf("%w: block %d of the TIFF", pixel.ErrTruncated, i)
		}
	}
	return nil
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
	return func(i uint64) uint64 {
		switch v := b[i*width:]; width {
		case 2:
			return uint64(t.Order.Uint16(v))
		case 4:
			return uint64(t.Order.Uint32(v))
		default:
			return t.Order.Uint64(v)
		}
	}, nil
}
