package preprocess

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/dsconv/dsconv/formats"
)

// plainPNG decodes what nearly all PNGs are: sound, of 8 or 16 bits, without palette,
// transparent colour or interlacing. All else is left to decodePNG, which tells what is wrong.
type simplePNG struct {
	in      bytes.Reader
	z       io.ReadCloser
	row     []byte
	zeroRow []byte // zeros, which are above the first row
	stop    *Stop
}

// decode makes dst the pixels of data, whose header is h. ok is false, and dst unspecified, for
// what is not plain.
func (p *simplePNG) decode(dst *Image, data []byte, h Header) (ok bool) {
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
	n := dst.stride()
	p.row = grow(p.row, 1+n)
	above := grow(p.zeroRow, n)
	clear(above)
	p.zeroRow = above
	for y := range h.H {
		if p.stop.err() != nil {
			return false
		}
		if _, err := io.ReadFull(p.z, p.row); err != nil {
			return false
		}
		row := dst.Pix[y*n : (y+1)*n]
		copy(row, p.row[1:])
		if !unfilter(p.row[0], row, above, dst.pixelSize()) {
			return false
		}
		above = row
	}
	if k, err := p.z.Read(p.row[:1]); k != 0 || err != io.EOF { // which is where the checksum is checked
		return false
	}
	if h.DType == formats.Uint16 {
		for i := 0; i < len(dst.Pix); i += 2 {
			dst.Pix[i], dst.Pix[i+1] = dst.Pix[i+1], dst.Pix[i]
		}
	}
	return true
}

// decodePlainPNG makes dst the pixels as o wants them; ok is false for a PNG that is not plain.
func (d *Decoder) decodeSimplePNG(dst *Image, data []byte, h Header, o DecodeOptions) (ok bool) {
	if o.keeps(h) {
		return d.png.decode(dst, data, h)
	}
	if !d.png.decode(&d.scratch[0], data, h) {
		return false
	}
	d.convert(dst, &d.scratch[0], o)
	return true
}

func (p *simplePNG) open() (err error) {
	if p.z != nil {
		return p.z.(zlib.Resetter).Reset(&p.in, nil)
	}
	p.z, err = zlib.NewReader(&p.in)
	return err
}

// plainStream is the zlib stream of a plain PNG: one header, the pixels in one row of chunks,
// the end, and between them only what no decoder needs; every checksum is right.
func simpleStream(data []byte, h Header) (stream []byte, ok bool) {
	parts, err := readPNG(data)
	if err != nil || h.Palette || parts.transparent || parts.palette != nil || parts.rules.animated() ||
		parts.header[8] < 8 || !bytes.Equal(parts.header[10:13], []byte{0, 0, 0}) {
		return nil, false
	}
	stage := 0 // 1 behind the header, 2 in the pixels, 3 behind them
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
		case kind[0]&0x20 == 0 || name == "tRNS" || stage == 0: // it counts, or is before the header
			return nil, false
		case stage == 2:
			stage = 3
		}
		i = next
	}
}

// unfilter undoes a row's filter in place.
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

// unfilterPaeth undoes it for each size-th byte.
func unfilterPaeth(row, above []byte, size int) {
	a, c := 0, 0 // left, left above
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
