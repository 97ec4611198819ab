//go:build !cgo

package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"

	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// rawTIFF decodes the samples of a TIFF of kind k to dst, which has k.rawBytes, as libtiff does. checkRegular has
// accepted the strips or tiles.
func rawTIFF(dst, data []byte, k *tiffKind, stop *pixel.Stop) error {
	t, err := readTIFFTags(data)
	if err != nil {
		return err
	}
	predictor, order := t.value(tagPredictor, 1), t.value(tagFillOrder, 1)
	if predictor > 2 || predictor == 2 && k.bits != 8 && k.bits != 16 && k.bits != 32 || order != 1 || k.colors == tiffRGBX || k.colors == tiffFromJPEG {
		return fmt.Errorf("%w: a TIFF of compression %d, %d bits, predictor %d, fill order %d, or YCbCr, which needs libtiff", pixel.ErrUnsupported, k.compression, k.bits, predictor, order)
	}
	w, h := k.w, min(k.h, t.value(tagRowsPerStrip, k.h))
	offsetTag, sizeTag := uint16(tagStripOffsets), uint16(tagStripSizes)
	_, _, _, tiled := t.entry(tagTileWidth)
	if tiled {
		w, h = t.value(tagTileWidth, 0), t.value(tagTileHeight, 0)
		offsetTag, sizeTag = tagTileOffsets, tagTileSizes
	}
	across, down := (k.w+w-1)/w, (k.h+h-1)/h
	stored := across * down // blocks, also of planes that are not read
	if t.value(tagPlanar, 1) == 2 {
		stored *= t.value(exif.TagSamples, 1)
	}
	offsets, err := t.blockValues(offsetTag, stored)
	if err != nil {
		return err
	}
	sizes, err := t.blockValues(sizeTag, stored)
	if err != nil {
		return err
	}
	b := tiffBlock{kind: *k, rows: h, order: t.order, predictor: predictor == 2}
	b.kind.w = w
	row, width := k.rowBytes(), b.kind.rowBytes()
	if across > 1 && width*8 != w*uint64(b.samples()*k.bits) {
		return fmt.Errorf("%w: a TIFF of tiles that end within a byte", pixel.ErrUnsupported)
	}
	var tile []byte
	if tiled {
		tile = make([]byte, width*h)
	}
	for i := range across * down * uint64(k.planes) {
		if err := stop.Err(); err != nil {
			return err
		}
		x, y := i%across*width, i/across%down*h
		to := dst[(i/across/down*k.h+y)*row:]
		n := min(h, k.h-y)
		block := data[offsets(i):][:sizes(i)]
		if !tiled {
			if err := b.decode(to[:n*row], block); err != nil {
				return err
			}
			continue
		}
		if err := b.decode(tile, block); err != nil {
			return err
		}
		for k := range n {
			copy(to[k*row+x:(k+1)*row], tile[k*width:(k+1)*width])
		}
	}
	return nil
}

// tiffBlock decompresses strips or tiles.
type tiffBlock struct {
	kind      tiffKind // its width is that of a block
	rows      uint64
	order     binary.ByteOrder
	predictor bool // samples are differences
}

// samples is the number of samples that lie together.
func (b *tiffBlock) samples() int {
	if b.kind.planes > 1 {
		return 1
	}
	return b.kind.samples
}

func (b *tiffBlock) decode(to, block []byte) error {
	r, err := b.open(block, len(to))
	if err == nil {
		_, err = io.ReadFull(r, to)
	}
	switch {
	case errors.Is(err, pixel.ErrUnsupported):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: inside a strip or tile of the TIFF", pixel.ErrTruncated)
	case err != nil:
		return fmt.Errorf("%w: TIFF: %w", pixel.ErrCorrupt, err)
	}
	b.arrange(to)
	return nil
}

// open returns what decompresses the block, of n bytes.
func (b *tiffBlock) open(block []byte, n int) (io.Reader, error) {
	in := bytes.NewReader(block)
	rows := n / int(b.kind.rowBytes())
	fax := ccitt.Group3
	switch b.kind.compression {
	case tiffUncompressed:
		return in, nil
	case 4:
		fax = ccitt.Group4
		fallthrough
	case 3:
		return ccitt.NewReader(in, ccitt.MSB, fax, int(b.kind.w), rows, &ccitt.Options{Invert: true}), nil
	case 5:
		return lzw.NewReader(in, lzw.MSB, 8), nil
	case 8, tiffDeflateOld:
		return zlib.NewReader(in)
	case tiffPackBits:
		return bytes.NewReader(unpackBits(block, n)), nil
	}
	return nil, fmt.Errorf("%w: TIFF compression %d, without libtiff", pixel.ErrUnsupported, b.kind.compression)
}

// arrange makes samples of several bytes native, and adds differences.
func (b *tiffBlock) arrange(to []byte) {
	native, size := binary.NativeEndian, b.kind.bits/8
	if little := native.Uint16([]byte{1, 0}) == 1; little != (b.order == binary.LittleEndian) && b.kind.bits%16 == 0 {
		for i := 0; i+size <= len(to); i += size {
			for k := range size / 2 {
				to[i+k], to[i+size-1-k] = to[i+size-1-k], to[i+k]
			}
		}
	}
	if !b.predictor {
		return
	}
	before := b.samples() * size
	for row := int(b.kind.rowBytes()); len(to) >= row; to = to[row:] {
		for i := before; i < row; i += size {
			switch v, w := to[i:], to[i-before:]; size {
			case 1:
				v[0] += w[0]
			case 2:
				native.PutUint16(v, native.Uint16(v)+native.Uint16(w))
			default:
				native.PutUint32(v, native.Uint32(v)+native.Uint32(w))
			}
		}
	}
}

// unpackBits decompresses PackBits, at most n bytes.
func unpackBits(b []byte, n int) []byte {
	to := make([]byte, 0, n)
	for len(b) > 1 && len(to) < n {
		code := int(int8(b[0]))
		b = b[1:]
		switch {
		case code >= 0:
			k := min(code+1, len(b))
			to, b = append(to, b[:k]...), b[k:]
		case code != -128:
			to, b = append(to, bytes.Repeat(b[:1], 1-code)...), b[1:]
		}
	}
	return to
}
