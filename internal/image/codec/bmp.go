package codec

import (
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
