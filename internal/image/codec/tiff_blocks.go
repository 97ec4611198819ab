package codec

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"

	"golang.org/x/image/tiff/lzw"

	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// tiffBlocks are the strips or tiles that a TIFF's pixels lie in.
type tiffBlocks struct {
	w, h           int64 // of a block in pixels
	rows           int64 // of the image
	tiled          bool
	row            int64 // bytes of a block's row
	offsets, sizes []int64
}

// need is the uncompressed size of block i.
func (b *tiffBlocks) need(i int) int64 {
	if b.tiled {
		return b.h * b.row
	}
	return min(b.h, b.rows-int64(i)*b.h) * b.row
}

// blocks finds the blocks of an image of bits bits per pixel.
func (d tiffDirectory) blocks(bits int64) (b tiffBlocks, err error) {
	w, h := int64(d.Value(exif.TagWidth, 0)), int64(d.Value(exif.TagHeight, 0))
	b.w, b.h, b.rows = w, min(h, int64(d.Value(tagRowsPerStrip, int(h)))), h
	offsetTag, sizeTag := uint16(tagStripOffsets), uint16(tagStripSizes)
	if _, _, b.tiled = d.find(tagTileWidth); b.tiled {
		b.w, b.h = int64(d.Value(tagTileWidth, 0)), int64(d.Value(tagTileHeight, 0))
		offsetTag, sizeTag = tagTileOffsets, tagTileSizes
	}
	if w < 1 || h < 1 || b.w < 1 || b.h < 1 || b.w > 1<<20 || b.h > 1<<20 {
		return b, fmt.Errorf("%w: a TIFF of %dx%d in blocks of %dx%d", pixel.ErrUnsupported, w, h, b.w, b.h)
	}
	b.row = (b.w*bits + 7) / 8
	n := ((w + b.w - 1) / b.w) * ((h + b.h - 1) / b.h)
	if b.offsets, err = d.list(offsetTag, n); err == nil {
		b.sizes, err = d.list(sizeTag, n)
	}
	return b, err
}

// strips checks that the strips or tiles lie in the file and can hold the pixels that they claim, so
// that no memory is allocated for a false claim.
func (d tiffDirectory) strips(bits int64) error {
	b, err := d.blocks(bits)
	if err != nil {
		return err
	}
	ratio := tiffRatio(d.Value(tagCompression, 1))
	for i, offset := range b.offsets {
		need, size := b.need(i), b.sizes[i]
		if offset+size > int64(len(d.Data)) || need > size*ratio {
			return fmt.Errorf("%w: block %d of the TIFF", pixel.ErrTruncated, i)
		}
		if ratio == 1 && size != need {
			return fmt.Errorf("%w: TIFF block %d of %d bytes instead of %d", pixel.ErrUnsupported, i, size, need)
		}
	}
	return nil
}

// tiffBlockMemory is the memory that decompressing a block takes; the buffer grows by doubling.
func tiffBlockMemory(d tiffDirectory) int64 {
	b, err := d.blocks(d.bitsPerPixel())
	if err != nil {
		return 0 // checkTIFF reports it
	}
	return 3 * b.h * b.row
}

func (d tiffDirectory) bitsPerPixel() int64 {
	return int64(d.Value(exif.TagSamples, 1)) * int64(d.Value(exif.TagBits, 1))
}

// checkTIFFBlocks returns an error if a block decompresses to more than its pixels: golang.org/x/image
// would take up to 8 bytes per pixel for it. If even that is within the allowance, nothing is
// decompressed.
func checkTIFFBlocks(data []byte) error {
	d, err := firstTIFF(data)
	if err != nil {
		return err
	}
	b, err := d.blocks(d.bitsPerPixel())
	if err != nil || 3*8*b.w*b.h <= max(budget.UnreservedBytes, budget.Allowance(len(data))) {
		return err
	}
	compression := d.Value(tagCompression, tiffUncompressed)
	for i, offset := range b.offsets {
		most := b.h*b.row + 1<<10 // the last strip may be padded
		n := decompressed(compression, data[offset:offset+b.sizes[i]], most+1)
		if n > most {
			return fmt.Errorf("%w: TIFF block %d holds more than its %d bytes of pixels", pixel.ErrTooLarge, i, b.need(i))
		}
	}
	return nil
}

// decompressed is the decompressed size of a block, counted up to limit.
func decompressed(compression int, block []byte, limit int64) (n int64) {
	var r io.ReadCloser
	var err error
	switch compression {
	case 5:
		r = lzw.NewReader(bytes.NewReader(block), lzw.MSB, 8)
	case 8, tiffDeflateOld:
		if r, err = zlib.NewReader(bytes.NewReader(block)); err != nil {
			return 0 // the decoder reports it
		}
	case tiffPackBits:
		return unpackedBits(block)
	default:
		return 0
	}
	defer r.Close()
	n, _ = io.Copy(io.Discard, io.LimitReader(r, limit))
	return n
}

// unpackedBits is the decompressed size of PackBits.
func unpackedBits(b []byte) (n int64) {
	for len(b) > 0 {
		code := int(int8(b[0]))
		b = b[1:]
		switch {
		case code >= 0:
			n += int64(code) + 1
			b = b[min(code+1, len(b)):]
		case code != -128:
			n += int64(1 - code)
			b = b[min(1, len(b)):]
		}
	}
	return n
}
