package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// single are the tags that have one value.
var single = []uint16{
	exif.TagWidth, exif.TagHeight, tagCompression, exif.TagPhotometric, tagFillOrder, exif.TagOrientation, exif.TagSamples,
	tagRowsPerStrip, tagPlanar, tagPredictor,
}

// checkRegular returns an error for a TIFF whose directory is irregular: libtiff and Pillow, which has a reader of its
// own for the tags, would guess in different ways.
func (t *tiffTags) checkRegular(k *tiffKind) error {
	size := 12
	if t.big {
		size = 20
	}
	if len(t.entries) == 0 || t.cut {
		return fmt.Errorf("%w: in the TIFF directory", pixel.ErrTruncated)
	}
	for e := t.entries; len(e) > size; e = e[size:] {
		if t.order.Uint16(e) >= t.order.Uint16(e[size:]) {
			return fmt.Errorf("%w: a TIFF directory out of order", pixel.ErrUnsupported)
		}
	}
	for _, tag := range single {
		if typ, n, _, ok := t.entry(tag); ok && (n != 1 || typ != exif.TypeShort && typ != exif.TypeLong) {
			return fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, n)
		}
	}
	if k.compression == tiffOldJPEG {
		return nil // it may have no strips
	}
	return t.checkBlocks(k)
}

// checkBlocks returns an error if the strips or tiles are not as many as the pixels need, if one does not lie in the
// file, or if it cannot hold its pixels.
func (t *tiffTags) checkBlocks(k *tiffKind) error {
	block, rows := *k, k.h
	offsetTag, sizeTag := uint16(tagStripOffsets), uint16(tagStripSizes)
	if _, _, _, tiled := t.entry(tagTileWidth); tiled {
		block.w, rows = t.value(tagTileWidth, 0), t.value(tagTileHeight, 0)
		offsetTag, sizeTag = tagTileOffsets, tagTileSizes
	} else {
		rows = min(rows, t.value(tagRowsPerStrip, rows))
	}
	if k.w < 1 || k.h < 1 || block.w < 1 || rows < 1 || block.w > 1<<24 || rows > 1<<24 {
		return fmt.Errorf("%w: a TIFF of %dx%d in blocks of %dx%d", pixel.ErrUnsupported, k.w, k.h, block.w, rows)
	}
	across := (k.w + block.w - 1) / block.w
	down := (k.h + rows - 1) / rows
	n := across * down * max(1, t.value(exif.TagSamples, 1))
	if t.value(tagPlanar, 1) != 2 {
		n = across * down
	}
	row := block.rowBytes()
	if k.colors == tiffRGBX {
		row = block.w // the least that subsampled YCbCr takes
	}
	offsets, err := t.blockValues(offsetTag, n)
	if err != nil {
		return err
	}
	sizes, err := t.blockValues(sizeTag, n)
	if err != nil {
		return err
	}
	for i := range n {
		need, offset, size := row*rows, offsets(i), sizes(i)
		if last := i / across % down; offsetTag == tagStripOffsets && last == down-1 {
			need = row * (k.h - last*rows)
		}
		if end := uint64(len(t.data)); offset > end || size > end-offset || need/tiffRatio(k.compression) > size {
			return fmt.Errorf("%w: block %d of the TIFF", pixel.ErrTruncated, i)
		}
	}
	return nil
}

// blockValues returns a function that reads value i of a tag with n values.
func (t *tiffTags) blockValues(tag uint16, n uint64) (func(i uint64) uint64, error) {
	typ, count, b, ok := t.entry(tag)
	width := tiffWidth(typ)
	if !ok || count != n || width < 2 {
		return nil, fmt.Errorf("%w: TIFF tag %d of type %d with %d values", pixel.ErrUnsupported, tag, typ, count)
	}
	if n > uint64(len(b))/width {
		return nil, fmt.Errorf("%w: the values of TIFF tag %d lie past the end of the file", pixel.ErrTruncated, tag)
	}
	return func(i uint64) uint64 {
		switch v := b[i*width:]; width {
		case 2:
			return uint64(t.order.Uint16(v))
		case 4:
			return uint64(t.order.Uint32(v))
		default:
			return t.order.Uint64(v)
		}
	}, nil
}
