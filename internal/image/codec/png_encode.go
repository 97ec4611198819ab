package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/klauspost/compress/zlib"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// pngEncoder writes PNGs, compressed for speed. Equal images give equal files.
type pngEncoder struct {
	z         *zlib.Writer
	rows      pngRows
	bigEndian [2][]byte // rows of 16 bits, big-endian
}

// appendTo is an io.Writer that appends to a slice.
type appendTo []byte

func (a *appendTo) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// pngColor are the colour types by number of channels.
var pngColor = [5]byte{1: pngGray, 2: pngGrayAlpha, 3: pngRGB, 4: pngRGBA}

func (e *pngEncoder) encode(dst []byte, m *pixel.Image) ([]byte, error) {
	var header [13]byte
	binary.BigEndian.PutUint32(header[0:], uint32(m.W))
	binary.BigEndian.PutUint32(header[4:], uint32(m.H))
	header[8], header[9] = byte(8*m.DType.Size()), pngColor[m.C]
	out := append(appendTo(dst), pngMagic...)
	out = appendChunk(out, "IHDR", header[:])
	at := len(out)
	out = append(out, "\x00\x00\x00\x00IDAT"...)
	if err := e.compress(&out, m); err != nil {
		return dst, fmt.Errorf("encode PNG: %w", err)
	}
	n := len(out) - at - 8
	if n > math.MaxInt32 {
		return dst, fmt.Errorf("%w: a PNG chunk cannot hold %d bytes", pixel.ErrTooLarge, n)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(n))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at+4:]))
	return appendChunk(out, "IEND", nil), nil
}

// compress writes the filtered rows as a zlib stream.
func (e *pngEncoder) compress(out *appendTo, m *pixel.Image) (err error) {
	if e.z == nil {
		if e.z, err = zlib.NewWriterLevel(nil, zlib.BestSpeed); err != nil {
			return err
		}
	}
	e.z.Reset(out)
	e.rows.reset(m.Stride(), m.PixelSize())
	var above []byte
	for y := range m.H {
		row := e.row(m, y)
		if _, err := e.z.Write(e.rows.filter(row, above)); err != nil {
			return err
		}
		above = row
	}
	return e.z.Close()
}

// row returns row y as a PNG stores it. It is valid until the call after the next.
func (e *pngEncoder) row(m *pixel.Image, y int) []byte {
	pix := m.Pix[y*m.Stride():][:m.Stride()]
	if m.DType != formats.Uint16 {
		return pix
	}
	row := buffer.Grow(e.bigEndian[y&1], len(pix))
	e.bigEndian[y&1] = row
	for i := 0; i < len(pix); i += 2 {
		row[i], row[i+1] = pix[i+1], pix[i]
	}
	return row
}

// appendChunk appends a chunk with its length and checksum.
func appendChunk(b []byte, kind string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	at := len(b)
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
}
