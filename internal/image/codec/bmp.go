package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeBMP decodes a BMP to dst.
func (d *Decoder) decodeBMP(dst *pixel.Image, data []byte, h pixel.Header, o DecodeOptions) error {
	b, err := parseBMP(data)
	if err != nil {
		return err
	}
	if h.Palette {
		return d.decodeIndexedBMP(dst, data, &b, o)
	}
	target, channels := dst, o.Color.Channels(h.C)
	if channels == 1 {
		target, channels = &d.scratch[0], 3
	}
	target.Reset(h.H, h.W, channels, h.DType)
	for i := range b.h {
		in, out := data[b.pixels+i*b.stride:], target.Pix[b.row(i)*target.Stride():][:target.Stride()]
		if b.depth == 16 {
			b.unpack16(out, in)
		} else {
			b.unpackBytes(out, in, channels)
		}
	}
	if target != dst {
		return o.Color.Convert(dst, target)
	}
	return nil
}

// row returns the image row that row i of the file holds.
func (b *bmpFile) row(i int) int {
	if b.topDown {
		return i
	}
	return b.h - 1 - i
}

// unpackBytes converts a row of pixels of 24 or 32 bits to 3 or 4 channels.
func (b *bmpFile) unpackBytes(out, in []byte, channels int) {
	step, at := b.depth/8, b.channelOffsets()
	for ; len(out) > 0; out, in = out[channels:], in[step:] {
		p := in[:step]
		out[0], out[1], out[2] = p[at[0]], p[at[1]], p[at[2]]
		if channels == 4 {
			out[3] = p[at[3]]
		}
	}
}

// unpack16 converts a row of pixels of 5 bits per channel, 5 or 6 for green, to RGB.
func (b *bmpFile) unpack16(out, in []byte) {
	red, green := 10, uint32(31)
	if b.masks[1] == 0x7E0 {
		red, green = 11, 63
	}
	for ; len(out) > 0; out, in = out[3:], in[2:] {
		v := uint32(in[0]) | uint32(in[1])<<8
		out[0] = byte((v >> red & 31) * 255 / 31)
		out[1] = byte((v >> 5 & green) * 255 / green)
		out[2] = byte((v & 31) * 255 / 31)
	}
}

// decodeIndexedBMP decodes a BMP with a palette to dst: colours, or indices with o.Indices.
func (d *Decoder) decodeIndexedBMP(dst *pixel.Image, data []byte, b *bmpFile, o DecodeOptions) error {
	indices := d.indices(dst, o)
	if err := b.indices(indices, data); err != nil {
		return err
	}
	if o.Indices && b.bilevel() {
		zeroOne(dst)
	}
	table := b.table()
	d.colors(dst, &table, o)
	return nil
}

// indices decodes the palette indices to dst, one channel.
func (b *bmpFile) indices(dst *pixel.Image, data []byte) error {
	if b.compression != bmpRaw {
		return b.decodeRuns(dst, data)
	}
	dst.Reset(b.h, b.w, 1, formats.Uint8)
	n := b.rowBits()
	for i := range b.h {
		unpackIndices(dst.Pix[b.row(i)*b.w:][:b.w], data[b.pixels+i*b.stride:], n)
	}
	return nil
}

// unpackIndices converts a row of pixels of 1, 4 or 8 bits, the first in the high bits, to bytes.
func unpackIndices(out, in []byte, bits int) {
	if bits == 8 {
		copy(out, in)
		return
	}
	n, mask := 8/bits, byte(1<<bits-1)
	for x := range out {
		out[x] = in[x/n] >> (8 - bits - x%n*bits) & mask
	}
}

// table returns the palette as RGB. Colours that it lacks are black.
func (b *bmpFile) table() (t [256][3]byte) {
	p := b.palette
	for i := range t {
		switch {
		case b.bilevel() && i > 0:
			t[i] = [3]byte{255, 255, 255}
		case p.gray:
			t[i] = [3]byte{byte(i), byte(i), byte(i)}
		case (i+1)*p.entry <= len(p.data):
			c := p.data[i*p.entry:]
			t[i] = [3]byte{c[2], c[1], c[0]}
		}
	}
	return t
}

// decodeRuns decodes the palette indices of a run-length encoded BMP to dst. A first pass only
// counts pixels, so that no memory is allocated for pixels that the file does not have.
func (b *bmpFile) decodeRuns(dst *pixel.Image, data []byte) error {
	total := b.w * b.h
	r := bmpRuns{data: data, at: b.pixels, rle4: b.compression == bmpRLE4, width: b.w, total: total}
	count := r
	if count.decode(); count.n < total {
		return fmt.Errorf("%w: the BMP's runs hold %d of %d pixels", pixel.ErrTruncated, count.n, total)
	}
	dst.Reset(b.h, b.w, 1, formats.Uint8)
	clear(dst.Pix)
	r.dst = dst.Pix
	r.decode()
	if !b.topDown {
		flipRows(dst)
	}
	return nil
}

// flipRows flips m top to bottom.
func flipRows(m *pixel.Image) {
	n := m.Stride()
	for rest := m.Pix; len(rest) >= 2*n; rest = rest[n : len(rest)-n] {
		top, bottom := rest[:n], rest[len(rest)-n:]
		for i := range top {
			top[i], bottom[i] = bottom[i], top[i]
		}
	}
}

// bmpRuns decodes RLE8 and RLE4 as Pillow does: runs end with their row, literal pixels
// continue in the next one, and skipped pixels have index 0.
type bmpRuns struct {
	data  []byte // the whole file: literal pixels are padded to an even offset in it
	at    int
	rle4  bool   // RLE4
	dst   []byte // zeros; nil to count only
	n     int    // pixels so far
	total int
	width int
}

func (r *bmpRuns) decode() {
	x := 0
	for r.n < r.total && r.at <= len(r.data)-2 {
		count, value := int(r.data[r.at]), r.data[r.at+1]
		r.at += 2
		switch {
		case count > 0:
			count = max(0, min(count, r.width-x))
			r.run(count, value)
			x += count
		case value == 0: // end of line
			if over := r.n % r.width; over > 0 {
				r.n += r.width - over
			}
			x = 0
		case value == 1: // end of bitmap
			return
		case value == 2:
			if r.at > len(r.data)-2 {
				return
			}
			right, up := int(r.data[r.at]), int(r.data[r.at+1])
			r.at += 2
			r.n = min(r.n+right+up*r.width, r.total)
			x = r.n % r.width
		default:
			if !r.literal(int(value)) {
				return
			}
			x += int(value)
		}
	}
}

// run writes count pixels of one index, or of two alternating ones.
func (r *bmpRuns) run(count int, value byte) {
	if r.dst != nil {
		even, odd := value, value
		if r.rle4 {
			even, odd = value>>4, value&15
		}
		out := r.dst[r.n:min(r.n+count, r.total)]
		for i := range out {
			out[i] = even
			even, odd = odd, even
		}
	}
	r.n += count
}

// literal writes up to count pixels that are in the data. It reports whether more may follow.
func (r *bmpRuns) literal(count int) bool {
	count = min(count, r.total-r.n)
	size, bits := count, 8
	if r.rle4 {
		size, bits = (count+1)/2, 4
	}
	if size > len(r.data)-r.at {
		return false
	}
	if r.dst != nil {
		unpackIndices(r.dst[r.n:r.n+count], r.data[r.at:], bits)
	}
	r.n += count
	r.at += size + (r.at+size)%2
	return true
}
