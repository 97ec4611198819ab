// Package hostile creates small image files that claim to be very large images, for tests of the
// memory and time that such files take.
package hostile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// PNG's colour types.
const (
	Gray      = 0
	RGB       = 2
	palette   = 3
	grayAlpha = 4
	RGBA      = 6
)

// zeros is n zero bytes as a zlib stream. One block is compressed and repeated.
func zeros(n int) []byte {
	const block = 1 << 20
	var one, rest bytes.Buffer
	z, _ := flate.NewWriter(&one, flate.BestCompression)
	_, _ = z.Write(make([]byte, block))
	_ = z.Flush()
	z.Reset(&rest)
	_, _ = z.Write(make([]byte, n%block))
	_ = z.Close()
	b := append([]byte{0x78, 0x01}, bytes.Repeat(one.Bytes(), n/block)...)
	b = append(b, rest.Bytes()...)
	return binary.BigEndian.AppendUint32(b, uint32(n%65521)<<16|1) // Adler-32 of zeros
}

// PNG is a valid image of w by h pixels, all of value 0.
func PNG(w, h int, bits, color byte) []byte {
	channels := map[byte]int{Gray: 1, RGB: 3, palette: 1, grayAlpha: 2, RGBA: 4}[color]
	header := binary.BigEndian.AppendUint32(nil, uint32(w))
	header = append(binary.BigEndian.AppendUint32(header, uint32(h)), bits, color, 0, 0, 0)
	b := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", header)
	if color == palette {
		b = chunk(b, "PLTE", []byte{1, 2, 3, 4, 5, 6})
	}
	row := 1 + (w*channels*int(bits)+7)/8
	return chunk(chunk(b, "IDAT", zeros(row*h)), "IEND", nil)
}

func chunk(b []byte, kind string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	at := len(b)
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
}

// GIF is an image of one pixel on a canvas of w by h.
func GIF(w, h int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(le.AppendUint16([]byte("GIF89a"), uint16(w)), uint16(h))
	b = append(b, 0, 0, 0) // no colours, so that indices are greys
	b = append(b, ',', 0, 0, 0, 0, 1, 0, 1, 0, 0)
	return append(b, 2, 2, 0x4C, 0x01, 0, ';') // codes: clear, 1, end
}

// TIFF is a grey image of w by h pixels in one strip of deflate, that holds strip zero bytes.
func TIFF(w, h, strip int) []byte {
	le := binary.LittleEndian
	data := zeros(strip)
	tags := [][3]uint32{ // tag, type, value
		{256, 4, uint32(w)},
		{257, 4, uint32(h)},
		{258, 3, 8},
		{259, 3, 8},
		{262, 3, 1},
		{273, 4, 8},
		{277, 3, 1},
		{278, 4, uint32(h)},
		{279, 4, uint32(len(data))},
	}
	b := le.AppendUint32([]byte("II*\x00"), uint32(8+len(data)))
	b = append(b, data...)
	b = le.AppendUint16(b, uint16(len(tags)))
	for _, t := range tags {
		b = le.AppendUint16(le.AppendUint16(b, uint16(t[0])), uint16(t[1]))
		b = le.AppendUint32(le.AppendUint32(b, 1), t[2])
	}
	return le.AppendUint32(b, 0)
}

// bmp is an image of 8 bits in runs, most of whose w by h pixels are skipped.
func bmp(w, h int) []byte {
	le := binary.LittleEndian
	var runs []byte
	for y := 0; y < h; y += 255 {
		runs = append(runs, 0, 2, 0, byte(min(h-y, 255)))
	}
	runs = append(runs, 0, 1)
	const head = 14 + 40 + 4*256
	b := le.AppendUint32([]byte("BM"), uint32(head+len(runs)))
	b = le.AppendUint32(le.AppendUint32(b, 0), head)
	for _, v := range []uint32{40, uint32(w), uint32(h), 8<<16 | 1, 1, uint32(len(runs)), 0, 0, 256, 0} {
		b = le.AppendUint32(b, v)
	}
	for i := range 256 {
		b = append(b, byte(i), byte(255-i), 7, 0)
	}
	return append(b, runs...)
}

// WebP is a lossless image of w by h pixels of one colour, which takes no bits per pixel.
func WebP(w, h int) []byte {
	var bits bitWriter
	bits.put(0x2F, 8)
	bits.put(uint32(w-1), 14)
	bits.put(uint32(h-1), 14)
	bits.put(0, 1+3) // no alpha, version 0
	bits.put(0, 3)   // no transform, no colour cache, one group of codes
	for range 5 {
		bits.put(1, 1) // a simple code
		bits.put(0, 1) // of one symbol
		bits.put(0, 1) // of one bit
		bits.put(0, 1) // which is 0
	}
	bits.put(0, 64-4*8) // padding: decoders read past the last code
	body := bits.b[:len(bits.b)&^1]
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+8+len(body)))
	b = binary.LittleEndian.AppendUint32(append(b, "WEBPVP8L"...), uint32(len(body)))
	return append(b, body...)
}

// bitWriter writes the lowest bits first.
type bitWriter struct {
	b    []byte
	free uint // bits in the last byte
}

func (w *bitWriter) put(v uint32, n uint) {
	for ; n > 0; n, v = n-1, v>>1 {
		if w.free == 0 {
			w.b, w.free = append(w.b, 0), 8
		}
		w.b[len(w.b)-1] |= byte(v&1) << (8 - w.free)
		w.free--
	}
}
