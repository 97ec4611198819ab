package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// simplePNG decodes the kind that nearly all PNGs are: intact, of 8 or 16 bits, without palette,
// transparent colour or interlacing. Others are left to decodePNG, which says what is wrong.
type simplePNG struct {
	in      bytes.Reader
	z       io.ReadCloser
	row     []byte
	zeroRow []byte // zeros, as the row above the first
	stop    *pixel.Stop
}

// decode decodes data, whose header is h, to dst. If the PNG is not simple, ok is false and dst is
// unspecified.
func (p *simplePNG) decode(dst *pixel.Image, data []byte, h pixel.Header) (ok bool) {
	stream, ok := simpleStream(data, h)
	if !ok {
		return false
	}
	p.in.Reset(stream)
	defer p.in.Reset(nil)
	if err := p.open(); err != nil {
		return false
	}
	dst.Reset(h.H, h.W, h.C, h.DType)
	n := dst.Stride()
	p.row = buffer.Grow(p.row, 1+n)
	above := buffer.Grow(p.zeroRow, n)
	clear(above)
	p.zeroRow = above
	for y := range h.H {
		if p.stop.Err() != nil {
			return false
		}
		if _, err := io.ReadFull(p.z, p.row); err != nil {
			return false
		}
		row := dst.Pix[y*n : (y+1)*n]
		copy(row, p.row[1:])
		if !unfilter(p.row[0], row, above, dst.PixelSize()) {
			return false
		}
		above = row
	}
	if k, err := p.z.Read(p.row[:1]); k != 0 || err != io.EOF { // this read checks the checksum
		return false
	}
	if h.DType == formats.Uint16 {
		for i := 0; i < len(dst.Pix); i += 2 {
			dst.Pix[i], dst.Pix[i+1] = dst.Pix[i+1], dst.Pix[i]
		}
	}
	return true
}

// decodeSimplePNG decodes a simple PNG to dst as o asks; ok is false for others.
func (d *Decoder) decodeSimplePNG(dst *pixel.Image, data []byte, h pixel.Header, o DecodeOptions) (ok bool) {
	if o.keeps(h) {
		return d.png.decode(dst, data, h)
	}
	if !d.png.decode(&d.scratch[0], data, h) {
		return false
	}
	d.convert(dst, &d.scratch[0], o)
	return true
}

// open starts the decompression of p.in.
func (p *simplePNG) open() (err error) {
	if p.z != nil {
		return p.z.(zlib.Resetter).Reset(&p.in, nil)
	}
	p.z, err = zlib.NewReader(&p.in)
	return err
}

// simpleStream returns the zlib stream of a simple PNG: one header, consecutive chunks of pixels,
// the end, otherwise only optional chunks, and every checksum is right.
func simpleStream(data []byte, h pixel.Header) (stream []byte, ok bool) {
	parts, err := readPNG(data)
	if err != nil || h.Palette || parts.transparent || parts.palette != nil || parts.rules.animated() ||
		parts.header[8] < 8 || !bytes.Equal(parts.header[10:13], []byte{0, 0, 0}) {
		return nil, false
	}
	stage := 0 // 1 after the header, 2 in the pixels, 3 after them
	for i := len(pngMagic); ; {
		kind, body, crc, next, err := chunk(data, i)
		if err != nil || crc32.ChecksumIEEE(data[i+4:next-4]) != crc {
			return nil, false
		}
		switch name := string(kind); {
		case name == "IHDR" && stage == 0 && len(body) == 13:
			stage = 1
		case name == "IDAT" && (stage == 1 || stage == 2):
			stage = 2
		case name == "IEND":
			return parts.pixels, stage > 1 && len(body) == 0
		case kind[0]&0x20 == 0 || name == "tRNS" || stage == 0: // critical, or before the header
			return nil, false
		case stage == 2:
			stage = 3
		}
		i = next
	}
}

// unfilter undoes a row's filter in place. It returns false for an unknown filter.
func unfilter(filter byte, row, above []byte, size int) bool {
	above = above[:len(row)]
	switch filter {
	case pngNone:
	case pngSub:
		for i := size; i < len(row); i++ {
			row[i] += row[i-size]
		}
	case pngUp:
		add(row, above)
	case pngAverage:
		for i := range min(size, len(row)) {
			row[i] += above[i] / 2
		}
		for i := size; i < len(row); i++ {
			row[i] += byte((int(row[i-size]) + int(above[i])) / 2)
		}
	case pngPaeth:
		for i := range min(size, len(row)) {
			unfilterPaeth(row[i:], above[i:], size)
		}
	default:
		return false
	}
	return true
}

// unfilterPaeth undoes the Paeth filter of every size-th byte.
func unfilterPaeth(row, above []byte, size int) {
	a, c := 0, 0 // left, above left
	for i := 0; i < len(row); i += size {
		b := int(above[i])
		row[i] += paeth(a, b, c)
		a, c = int(row[i]), b
	}
}

// add adds b to each of a's bytes.
func add(a, b []byte) {
	le, i := binary.LittleEndian, 0
	for ; i+8 <= len(a); i += 8 {
		x, y := le.Uint64(a[i:]), le.Uint64(b[i:])
		le.PutUint64(a[i:], ((x&^highBits)+(y&^highBits))^((x^y)&highBits))
	}
	for ; i < len(a); i++ {
		a[i] += b[i]
	}
}
