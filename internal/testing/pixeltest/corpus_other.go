package pixeltest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// ChunkOf returns a PNG chunk.
func ChunkOf(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// bomb is small and decompresses to 40 MiB.
var bomb = ZlibOf(make([]byte, 40<<20))

// ZlibOf compresses data.
func ZlibOf(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	w.Close()
	return b.Bytes()
}

func (c *corpus) png(name string, data []byte) {
	for i, n := len(signaturePNG), 0; i < len(data); n++ {
		kind, body, _, next, err := pngChunk(data, i)
		if err != nil {
			panic(err)
		}
		of := fmt.Sprintf("%s, %s (%d)", name, kind, n)
		for _, cut := range []int{i, i + 3, i + 4, i + 8, (i + next) / 2, next - 4, next - 2} {
			c.add(of, fmt.Sprintf("cut at %d", cut), data[:cut])
		}
		put := func(what string, with ...[]byte) {
			c.add(of, what, slices.Concat(data[:i], slices.Concat(with...), data[next:]))
		}
		put("missing")
		put("twice", data[i:next], data[i:next])
		put("with a bad checksum", Changed(data[i:next], next-i-1, data[next-1]^1))
		put("empty", ChunkOf(string(kind), nil))
		put("one byte less", ChunkOf(string(kind), body[:max(0, len(body)-1)]))
		put("one byte more", ChunkOf(string(kind), append(bytes.Clone(body), 0)))
		put("called teSt", ChunkOf("teSt", body))
		put("called TEST", ChunkOf("TEST", body))
		put("called \\0\\1\\2\\3", ChunkOf("\x00\x01\x02\x03", body))
		put("called "+string(kind[0]|32)+"...", ChunkOf(string(append([]byte{kind[0] | 32}, kind[1:]...)), body))
		for _, length := range []uint32{0, 1, uint32(len(body)) + 1, uint32(len(body)) - 1, 1 << 20, 1 << 31, 1<<32 - 1} {
			put(fmt.Sprintf("of length %d", length), binary.BigEndian.AppendUint32(nil, length), data[i+4:next])
		}
		for _, extra := range [][]byte{
			ChunkOf("tEXt", []byte("Title\x00text")), Changed(ChunkOf("tEXt", []byte("Title\x00text")), 10, 1), ChunkOf("tEXt", nil),
			ChunkOf("zTXt", append([]byte("bomb\x00\x00"), bomb...)), ChunkOf("zTXt", []byte("bad\x00\x00xx")), ChunkOf("zTXt", []byte("bad\x00\x07xx")),
			ChunkOf("iTXt", []byte("k\x00\x00\x00en\x00k\x00text")), ChunkOf("iTXt", append([]byte("k\x00\x01\x00en\x00k\x00"), bomb...)),
			ChunkOf("iCCP", append([]byte("icc\x00\x00"), ZlibOf([]byte("profile"))...)), ChunkOf("iCCP", append([]byte("icc\x00\x00"), bomb...)), ChunkOf("iCCP", []byte("icc\x00\x09x")), ChunkOf("iCCP", nil),
			ChunkOf("gAMA", []byte{0, 0, 1}), ChunkOf("gAMA", []byte{0, 1, 0x86, 0xa0}), ChunkOf("cHRM", []byte{1}), ChunkOf("pHYs", []byte{1}), ChunkOf("pHYs", make([]byte, 9)),
			ChunkOf("sRGB", nil), ChunkOf("sRGB", []byte{0}), ChunkOf("tRNS", nil), ChunkOf("tRNS", []byte{0, 5}), ChunkOf("tRNS", []byte{0, 5, 0, 5, 0, 5}), ChunkOf("tRNS", make([]byte, 300)),
			ChunkOf("PLTE", nil), ChunkOf("PLTE", []byte{1, 2, 3}), ChunkOf("PLTE", []byte{1, 2, 3, 4}), ChunkOf("PLTE", make([]byte, 768)), ChunkOf("PLTE", make([]byte, 771)),
			ChunkOf("eXIf", []byte("II*\x00")), ChunkOf("acTL", make([]byte, 8)), ChunkOf("acTL", []byte{0, 0, 0, 3, 0, 0, 0, 0}), ChunkOf("fcTL", make([]byte, 26)), ChunkOf("fdAT", make([]byte, 9)), ChunkOf("IEND", nil),
			ChunkOf("bKGD", make([]byte, 6)), ChunkOf("unKn", []byte("x")), ChunkOf("UNKN", []byte("x")),
		} {
			put(fmt.Sprintf("after %.20q", extra[4:]), extra, data[i:next])
		}
		switch string(kind) {
		case "IHDR":
			c.ihdr(of, data, body, i, next)
		case "IDAT":
			put("in chunks of a byte", chunksOf(body, 1))
			put("in chunks of 50", chunksOf(body, 50))
			put("in two, text between", ChunkOf("IDAT", body[:len(body)/2]), ChunkOf("tEXt", []byte("a\x00b")), ChunkOf("IDAT", body[len(body)/2:]))
			put("after an empty one", ChunkOf("IDAT", nil), data[i:next])
			put("before an empty one", data[i:next], ChunkOf("IDAT", nil))
			put("of garbage", ChunkOf("IDAT", []byte("garbage, not zlib")))
			put("stream cut", ChunkOf("IDAT", body[:len(body)*2/3]))
			put("stream without checksum", ChunkOf("IDAT", body[:len(body)-4]))
			put("stream with a wrong checksum", ChunkOf("IDAT", Changed(body, len(body)-1, body[len(body)-1]^1)))
			put("stream and more", ChunkOf("IDAT", append(bytes.Clone(body), "more"...)))
			put("stream and zeros", ChunkOf("IDAT", append(bytes.Clone(body), make([]byte, 100)...)))
			put("too few pixels", ChunkOf("IDAT", ZlibOf(make([]byte, 30))))
			put("too many pixels", ChunkOf("IDAT", ZlibOf(make([]byte, 10000))))
			put("no pixels", ChunkOf("IDAT", ZlibOf(nil)))
			put("bad filter", ChunkOf("IDAT", ZlibOf(bytes.Repeat([]byte{9}, 10000))))
			for k := range 16 {
				at := len(body) * k / 16
				put(fmt.Sprintf("bit flipped at %d", at), ChunkOf("IDAT", Changed(body, at, body[at]^(1<<(k%8)))))
			}
		}
		i = next
	}
}

func chunksOf(body []byte, n int) (b []byte) {
	for part := range slices.Chunk(body, n) {
		b = append(b, ChunkOf("IDAT", part)...)
	}
	return b
}

func (c *corpus) ihdr(of string, data, body []byte, i, next int) {
	put := func(what string, body []byte) {
		c.add(of, what, slices.Concat(data[:i], ChunkOf("IHDR", body), data[next:]))
	}
	for _, size := range [][2]uint32{{0, 17}, {19, 0}, {65500, 65500}, {1 << 31, 1}, {19, 1 << 31}, {1<<32 - 1, 1<<32 - 1}, {19, 18}, {19, 16}, {20, 17}, {18, 17}, {19, 100000}} {
		b := binary.BigEndian.AppendUint32(nil, size[0])
		put(fmt.Sprintf("claims %dx%d", size[0], size[1]), append(binary.BigEndian.AppendUint32(b, size[1]), body[8:]...))
	}
	for _, bits := range []byte{0, 1, 2, 3, 4, 8, 16, 32} {
		for _, color := range []byte{0, 1, 2, 3, 4, 5, 6, 7} {
			put(fmt.Sprintf("of %d bits, colour %d", bits, color), Changed(body, 8, bits, color))
		}
	}
	for k := 10; k < 13; k++ {
		for _, v := range []byte{1, 2, 255} {
			put(fmt.Sprintf("byte %d is %d", k, v), Changed(body, k, v))
		}
	}
}

// wordValues writes extreme values to every 16 and 32-bit field of the first n bytes.
func (c *corpus) wordValues(name string, data []byte, n int) {
	for at := range min(n, len(data)-4) {
		for _, v := range []byte{0, 1, 0x10, 0x7F, 0x80, 0xFF} {
			c.add(name, fmt.Sprintf("byte %d is %#x", at, v), Changed(data, at, v))
		}
		if at%2 == 0 {
			c.add(name, fmt.Sprintf("bytes %d are ffff", at), Changed(data, at, 255, 255))
			c.add(name, fmt.Sprintf("bytes %d are ffffffff", at), Changed(data, at, 255, 255, 255, 255))
			c.add(name, fmt.Sprintf("bytes %d are 0", at), Changed(data, at, 0, 0, 0, 0))
			c.add(name, fmt.Sprintf("bytes %d are 13000", at), Changed(data, at, 0xC8, 0x32, 0, 0))
		}
	}
}

func (c *corpus) bmp(name string, data []byte) {
	c.wordValues(name, data, 58)
	c.list = slices.DeleteFunc(c.list, func(o IrregularImage) bool {
		if len(o.Data) < 34 || !strings.HasPrefix(string(o.Data), "BM") {
			return false
		}
		le := binary.LittleEndian
		w, h, compression := int64(int32(le.Uint32(o.Data[18:]))), int64(int32(le.Uint32(o.Data[22:]))), le.Uint32(o.Data[30:])
		inRuns := compression == 1 || compression == 2
		return inRuns && w > 0 && h != 0 && w > 1<<20/max(h, -h) // which takes Pillow minutes
	})
}

func (c *corpus) gif(name string, data []byte) {
	c.wordValues(name, data, 13)
	table := 13 + 3<<(data[10]&7+1)
	for i := table; i < len(data); i++ {
		for _, v := range []byte{0, 1, 2, 9, ';', ',', '!', 0xFF} {
			if i < table+40 || i%13 == 0 {
				c.add(name, fmt.Sprintf("byte %d is %#x", i, v), Changed(data, i, v))
			}
		}
	}
}

func (c *corpus) tiff(name string, data []byte) {
	c.wordValues(name, data, 8)
	at := int(binary.LittleEndian.Uint32(data[4:]))
	n := int(binary.LittleEndian.Uint16(data[at:]))
	for i := range n {
		e := at + 2 + 12*i
		of := fmt.Sprintf("%s, tag %d", name, binary.LittleEndian.Uint16(data[e:]))
		c.add(of, "missing", Changed(data, e, 0xFE, 0xFF))
		for _, typ := range []byte{0, 1, 2, 3, 4, 5, 12, 13, 99} {
			c.add(of, fmt.Sprintf("of type %d", typ), Changed(data, e+2, typ))
		}
		for _, v := range []uint32{0, 1, 2, 3, 4, 5, 7, 8, 16, 32, 255, 13000, 65500, 65535, 1 << 20, 1 << 31, 1<<32 - 1} {
			b := binary.LittleEndian.AppendUint32(nil, v)
			c.add(of, fmt.Sprintf("count %d", v), Changed(data, e+4, b...))
			c.add(of, fmt.Sprintf("value %d", v), Changed(data, e+8, b...))
		}
	}
	loop := binary.LittleEndian.AppendUint32(nil, uint32(at))
	c.add(name, "with a loop of directories", Changed(data, at+2+12*n, loop...))
	c.add(name, "with a directory past the end", Changed(data, at+2+12*n, 0, 0, 0, 0x7F))
	c.add(name, "big-endian only by name", Changed(data, 0, 'M', 'M', 0, '*'))
	c.add(name, "as BigTIFF", Changed(data, 2, 43))
}

// webp damages the header, each chunk's name and length, and the order of chunks.
func (c *corpus) webp(name string, data []byte) {
	c.wordValues(name, data, 34)
	for i := 12; i < len(data); {
		kind, body, next, err := splitRIFF(data, i)
		if err != nil {
			panic(err)
		}
		of := fmt.Sprintf("%s, %s (%d)", name, kind, i)
		put := func(what string, with ...[]byte) {
			b := slices.Concat(data[:i], slices.Concat(with...), data[next:])
			c.add(of, what+", RIFF as it was", b)
			c.add(of, what, Changed(b, 4, binary.LittleEndian.AppendUint32(nil, uint32(len(b)-8))...))
		}
		put("missing")
		put("twice", data[i:next], data[i:next])
		put("empty", makeRIFF(nil, kind, nil))
		put("one byte less", makeRIFF(nil, kind, body[:max(0, len(body)-1)]))
		put("half", makeRIFF(nil, kind, body[:len(body)/2]))
		put("one byte more", makeRIFF(nil, kind, append(bytes.Clone(body), 0)))
		put("two bytes more", makeRIFF(nil, kind, append(bytes.Clone(body), 0, 0)))
		put("called teSt", makeRIFF(nil, "teSt", body))
		for _, n := range []uint32{0, 1, 10, uint32(len(body)) + 1, uint32(len(body)) - 1, 1 << 20, 1<<32 - 1, 1<<32 - 2, 1<<32 - 9, 1<<32 - 20} {
			put(fmt.Sprintf("of length %d", n), data[i:i+4], binary.LittleEndian.AppendUint32(nil, n), data[i+8:next])
		}
		for _, extra := range []string{"teSt", "EXIF", "ICCP", "ALPH", "ANIM", "ANMF", "VP8 ", "VP8L", "VP8X"} {
			put("after an empty "+extra, makeRIFF(nil, extra, nil), data[i:next])
			put("after "+extra, makeRIFF(nil, extra, make([]byte, 24)), data[i:next])
		}
		for k := range min(len(body), 40) {
			for _, v := range []byte{0, 1, 0x10, 0x80, 0xFF} {
				c.add(of, fmt.Sprintf("byte %d is %#x", k, v), Changed(data, i+8+k, v))
			}
		}
		i = next
	}
}

// pngChunk returns the chunk of a PNG at data[i:].
func pngChunk(data []byte, i int) (kind, body []byte, crc uint32, next int, err error) {
	if len(data)-i < 12 {
		return nil, nil, 0, 0, io.ErrUnexpectedEOF
	}
	n := int64(binary.BigEndian.Uint32(data[i:]))
	if n > int64(len(data)-i-12) {
		return nil, nil, 0, 0, io.ErrUnexpectedEOF
	}
	end := i + 8 + int(n)
	return data[i+4 : i+8], data[i+8 : end], binary.BigEndian.Uint32(data[end:]), end + 4, nil
}

// splitRIFF returns the chunk of a WebP at data[i:].
func splitRIFF(data []byte, i int) (kind string, body []byte, next int, err error) {
	if len(data)-i < 8 {
		return "", nil, 0, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(data[i+4:]))
	if n > int64(len(data)-i-8) {
		return "", nil, 0, io.ErrUnexpectedEOF
	}
	end := i + 8 + int(n)
	return string(data[i : i+4]), data[i+8 : end], end + int(n&1), nil
}

// makeRIFF appends a chunk of a WebP.
func makeRIFF(b []byte, kind string, body []byte) []byte {
	b = append(b, kind...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	if len(body)&1 == 1 {
		b = append(b, 0)
	}
	return b
}

const signaturePNG = "\x89PNG\r\n\x1a\n"
