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

// The filters of PNG rows (PNG specification, 9.2).
const (
	pngNone = iota
	pngSub
	pngUp
	pngAverage
	pngPaeth
	pngFilters
)

// pngRows filters rows for compression. Each row gets the filter whose output, as signed bytes,
// has the smallest sum of absolute values (PNG specification, 12.7), the first of equal ones.
// Eight bytes are processed at once where the filter allows it.
type pngRows struct {
	size  int // of a pixel in bytes
	blank []byte
	out   [pngFilters][]byte // each begins with the filter's number
}

// reset prepares for rows of n bytes.
func (r *pngRows) reset(n, pixelSize int) {
	r.size = pixelSize
	r.blank = buffer.Grow(r.blank, n)
	clear(r.blank)
	for i := range r.out {
		r.out[i] = buffer.Grow(r.out[i], 1+n)
		r.out[i][0] = byte(i)
	}
}

// filter returns the filtered row cur below prev, which is nil for the first row. The result is
// valid until the next call.
func (r *pngRows) filter(cur, prev []byte) []byte {
	if prev == nil {
		prev = r.blank
	}
	n := min(r.size, len(cur))
	left, upLeft := cur[:len(cur)-n], prev[:len(prev)-n]

	copy(r.out[pngNone][1:], cur)
	copy(r.out[pngSub][1:], cur[:n])
	subtract(r.out[pngSub][1+n:], cur[n:], left)
	subtract(r.out[pngUp][1:], cur, prev)
	for i := range n {
		r.out[pngAverage][1+i] = cur[i] - prev[i]/2
		r.out[pngPaeth][1+i] = cur[i] - prev[i]
	}
	subtractMean(r.out[pngAverage][1+n:], cur[n:], left, prev[n:])
	subtractPaeth(r.out[pngPaeth][1+n:], cur[n:], left, prev[n:], upLeft)

	best, smallest := 0, sumAbsolute(r.out[0][1:])
	for i := 1; i < pngFilters && smallest > 0; i++ {
		if m := sumAbsolute(r.out[i][1:]); m < smallest {
			best, smallest = i, m
		}
	}
	return r.out[best]
}

const (
	highBits = 0x8080808080808080
	lowBits  = 0x0101010101010101
)

// subtractBytes subtracts each of 8 bytes.
func subtractBytes(a, b uint64) uint64 {
	return ((a | highBits) - (b &^ highBits)) ^ ((a ^ ^b) & highBits)
}

// subtract sets dst to a - b; all have the same length.
func subtract(dst, a, b []byte) {
	le, i := binary.LittleEndian, 0
	for ; i+8 <= len(dst); i += 8 {
		le.PutUint64(dst[i:], subtractBytes(le.Uint64(a[i:]), le.Uint64(b[i:])))
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] - b[i]
	}
}

// subtractMean sets dst to x - (a+b)/2; all have the same length.
func subtractMean(dst, x, a, b []byte) {
	le, i := binary.LittleEndian, 0
	for ; i+8 <= len(dst); i += 8 {
		p, q := le.Uint64(a[i:]), le.Uint64(b[i:])
		le.PutUint64(dst[i:], subtractBytes(le.Uint64(x[i:]), p&q+(p^q)>>1&^highBits))
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] - byte((int(a[i])+int(b[i]))/2)
	}
}

// subtractPaeth sets dst to x minus whichever of a (left), b (above) and c (above left) is nearest
// to a+b-c; all have the same length.
func subtractPaeth(dst, x, a, b, c []byte) {
	n := len(dst)
	x, a, b, c = x[:n], a[:n], b[:n], c[:n]
	for i := range dst {
		dst[i] = x[i] - paeth(int(a[i]), int(b[i]), int(c[i]))
	}
}

// paeth returns the first of a, b and c that is nearest to a+b-c. It compiles to conditional moves:
// branches would be unpredictable.
func paeth(a, b, c int) byte {
	toA, toB := b-c, a-c
	toC := absolute(toA + toB)
	toA, toB = absolute(toA), absolute(toB)
	if toB < toA {
		a, toA = b, toB
	}
	if toC < toA {
		a = c
	}
	return byte(a)
}

func absolute(v int) int {
	sign := v >> 63
	return (v ^ sign) - sign
}

// sumAbsolute is the sum of the absolute values of b's elements as signed bytes.
func sumAbsolute(b []byte) (sum uint64) {
	const even = 0x00FF00FF00FF00FF
	le := binary.LittleEndian
	for len(b) >= 8 {
		// 128 words of 8 bytes at most: their sums, up to 256 each, fit 16 bits.
		var lanes uint64
		for k := 0; k < 128 && len(b) >= 8; k++ {
			v := le.Uint64(b)
			negative := v >> 7 & lowBits
			v = (v ^ negative*255) + negative
			lanes += v&even + v>>8&even
			b = b[8:]
		}
		sum += lanes&0xFFFF + lanes>>16&0xFFFF + lanes>>32&0xFFFF + lanes>>48
	}
	for _, v := range b {
		sum += uint64(absolute(int(int8(v))))
	}
	return sum
}
