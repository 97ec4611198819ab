//go:build !cgo

package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"

	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// rawTIFF decodes the samples of a TIFF of kind k to dst, as libtiff does, of the compressions that Go has.
func rawTIFF(dst, data []byte, k *tiffKind, stop *pixel.Stop) error {
	t, err := exif.ReadTags(data)
	if err != nil {
		return err
	}
	row, samples := k.rowBytes(), uint64(k.samples)
	if k.planes > 1 {
		samples = 1
	}
	packed := k.compression == 5 || k.compression == 8 || k.compression == tiffDeflateOld
	predicted := packed && t.Value(tagPredictor, 1) != 1
	if k.colors == tiffRGBX || k.colors == tiffFromJPEG || predicted && (t.Value(tagPredictor, 1) != 2 || k.bits%8 != 0) {
		return fmt.Errorf("%w: a TIFF of compression %d, which a build without cgo does not read", pixel.ErrUnsupported, k.compression)
	}
	b, err := tiffBlocksOf(&t, k)
	if err != nil {
		return err
	}
	if b.tiled && b.w*samples*uint64(k.bits)%8 != 0 {
		return fmt.Errorf("%w: a TIFF of tiles of %d pixels", pixel.ErrUnsupported, b.w) // the format asks for multiples of 16
	}
	buf := make([]byte, b.row*b.rows)
	for i := range min(b.n, b.across*b.down*uint64(k.planes)) {
		if err := stop.Err(); err != nil {
			return err
		}
		block := buf[:b.need(i, k.h)]
		encoded := data[b.offsets(i):][:b.size(i)]
		if t.Value(tagFillOrder, 1) == 2 {
			encoded = reversed(encoded)
		}
		if err := decompressTIFF(block, encoded, k, &b); err != nil {
			return err
		}
		x, y := i%b.across*b.row, (i/b.across%b.down)*b.rows
		for r := range min(b.rows, k.h-y) {
			in := block[r*b.row:][:b.row]
			toNative(in, k.bits, t.Order)
			if predicted {
				unpredict(in, k.bits, int(samples))
			}
			copy(dst[(i/(b.across*b.down)*k.h+y+r)*row:][x:row], in)
		}
	}
	return nil
}

// decompressTIFF fills a block.
func decompressTIFF(block, encoded []byte, k *tiffKind, b *tiffBlocks) (err error) {
	var r io.Reader = bytes.NewReader(encoded)
	switch k.compression {
	case tiffUncompressed:
	case 3, 4: // black is 1, whatever the photometric interpretation
		format := map[uint64]ccitt.SubFormat{3: ccitt.Group3, 4: ccitt.Group4}[k.compression]
		r = ccitt.NewReader(r, ccitt.MSB, format, int(b.w), len(block)/int(b.row), &ccitt.Options{Invert: true})
	case 5:
		r = lzw.NewReader(r, lzw.MSB, 8)
	case 8, tiffDeflateOld:
		r, err = zlib.NewReader(r)
	case tiffPackBits:
		r = &packBits{in: encoded}
	default:
		return fmt.Errorf("%w: TIFF compression %d, which a build without cgo does not read", pixel.ErrUnsupported, k.compression)
	}
	if err == nil {
		_, err = io.ReadFull(r, block)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: inside a strip or tile of the TIFF", pixel.ErrTruncated)
	}
	return fmt.Errorf("%w: TIFF: %w", pixel.ErrCorrupt, err)
}

// packBits decompresses PackBits.
type packBits struct{ in, rest []byte }

// Read implements io.Reader.
func (p *packBits) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if len(p.in) < 2 {
			return 0, io.EOF
		}
		switch code := int(int8(p.in[0])); {
		case code >= 0:
			n := min(code+2, len(p.in))
			p.rest, p.in = p.in[1:n], p.in[n:]
		case code == -128:
			p.in = p.in[1:]
		default:
			p.rest, p.in = bytes.Repeat(p.in[1:2], 1-code), p.in[2:]
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// reversed is b with the bits of each byte in reverse order.
func reversed(b []byte) []byte {
	b = bytes.Clone(b)
	for i, v := range b {
		b[i] = bits.Reverse8(v)
	}
	return b
}

// toNative brings samples of 16 and 32 bits into the machine's byte order.
func toNative(row []byte, bits int, order binary.ByteOrder) {
	switch bits {
	case 16:
		for i := 0; i+2 <= len(row); i += 2 {
			binary.NativeEndian.PutUint16(row[i:], order.Uint16(row[i:]))
		}
	case 32:
		for i := 0; i+4 <= len(row); i += 4 {
			binary.NativeEndian.PutUint32(row[i:], order.Uint32(row[i:]))
		}
	}
}

// unpredict adds to each sample the same one of the pixel before, samples further left.
func unpredict(row []byte, bits, samples int) {
	native, size := binary.NativeEndian, bits/8
	for i := samples * size; i+size <= len(row); i += size {
		left := row[i-samples*size:]
		switch bits {
		case 8:
			row[i] += left[0]
		case 16:
			native.PutUint16(row[i:], native.Uint16(row[i:])+native.Uint16(left))
		default:
			native.PutUint32(row[i:], native.Uint32(row[i:])+native.Uint32(left))
		}
	}
}
