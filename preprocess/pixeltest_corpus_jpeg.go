package preprocess

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// jpegPart is a marker with its segment and, after SOS, the entropy-coded data.
type jpegPart struct {
	mark           byte
	at, body, data int // where the marker, the segment's body and what follows it begin
	end            int
}

func splitJPEG(data []byte) []jpegPart {
	var list []jpegPart
	for i := 2; i < len(data); {
		mark, next, ok := nextMarker(data, i)
		if !ok {
			break
		}
		p := jpegPart{mark: mark, at: next - 2, body: next, data: next, end: next}
		if !standalone(mark) && mark != markEOI {
			p.body = next + 2
			p.data = next + int(binary.BigEndian.Uint16(data[next:]))
			p.end = p.data
		}
		if mark == markSOS {
			p.end = new(jpegChecker).skipScanData(data, p.data)
		}
		list = append(list, p)
		i = p.end
	}
	return list
}

func (c *corpus) jpeg(name string, data []byte) {
	parts := splitJPEG(data)
	for i, p := range parts {
		of := fmt.Sprintf("%s, %02X (%d)", name, p.mark, i)
		for _, cut := range []int{p.at, p.at + 1, p.at + 2, p.at + 3, p.at + 4, (p.body + p.data) / 2, p.data - 1, p.data, p.data + 1, (p.data + p.end) / 2, p.end - 1} {
			c.add(of, fmt.Sprintf("cut at %d", cut), data[:min(cut, len(data))])
			c.add(of, fmt.Sprintf("cut at %d, EOI", cut), slices.Concat(data[:min(cut, len(data))], []byte{0xFF, 0xD9}))
		}
		c.add(of, "missing", slices.Concat(data[:p.at], data[p.end:]))
		c.add(of, "twice", slices.Concat(data[:p.end], data[p.at:p.end], data[p.end:]))
		c.add(of, "after fill bytes", slices.Concat(data[:p.at], bytes.Repeat([]byte{0xFF}, 7), data[p.at:]))
		c.add(of, "after garbage", slices.Concat(data[:p.at], []byte("garb\x00ge"), data[p.at:]))
		c.add(of, "after FF00", slices.Concat(data[:p.at], []byte{0xFF, 0}, data[p.at:]))
		for _, m := range []byte{0x01, 0x02, 0xC1, 0xC3, 0xC5, 0xC8, 0xC9, 0xCC, 0xD0, 0xD8, 0xD9, 0xDE, 0xDF, 0xF0, 0xF7, 0xFD} {
			c.add(of, fmt.Sprintf("after marker %02X", m), slices.Concat(data[:p.at], []byte{0xFF, m}, data[p.at:]))
			c.add(of, fmt.Sprintf("as %02X", m), changed(data, p.at+1, m))
		}
		if p.data == p.body {
			continue
		}
		n := p.data - p.body + 2
		for _, wrong := range []int{0, 1, 2, 3, n + 1, n - 1, n + 16, 65535} {
			c.add(of, fmt.Sprintf("of length %d", wrong), changed(data, p.at+2, byte(wrong>>8), byte(wrong)))
		}
		c.add(of, "without content", slices.Concat(data[:p.at], segmentOf(p.mark, nil), data[p.data:]))
		c.add(of, "one byte more", slices.Concat(data[:p.at], segmentOf(p.mark, append(bytes.Clone(data[p.body:p.data]), 0)), data[p.data:]))
		c.add(of, "one byte less", slices.Concat(data[:p.at], segmentOf(p.mark, data[p.body:p.data-1]), data[p.data:]))
		for at := p.body; at < min(p.data, p.body+24); at++ {
			for _, v := range []byte{0, 1, 4, 0x11, 0x55, 0xFF} {
				if data[at] != v {
					c.add(of, fmt.Sprintf("byte %d is %#x", at-p.body, v), changed(data, at, v))
				}
			}
		}
		if isSOF(p.mark) {
			c.frame(of, data, parts, p)
		}
		if p.mark == markSOS {
			c.entropy(of, data, p)
		}
	}
}

// frame adds images with irregular frame headers.
func (c *corpus) frame(of string, data []byte, parts []jpegPart, p jpegPart) {
	h := data[p.body+1 : p.body+3]
	for _, size := range [][2]int{{0, 19}, {17, 0}, {0, 0}, {65500, 65500}, {65535, 65535}, {17, 65500}, {65500, 19}, {16, 19}, {18, 19}, {33, 19}, {17, 18}, {17, 40}, {1, 1}} {
		c.add(of, fmt.Sprintf("claims %dx%d", size[1], size[0]), changed(data, p.body+1, byte(size[0]>>8), byte(size[0]), byte(size[1]>>8), byte(size[1])))
	}
	last := parts[len(parts)-1]
	dnl := segmentOf(0xDC, h)
	c.add(of, "height by DNL", slices.Concat(data[:p.body+1], []byte{0, 0}, data[p.body+3:last.at], dnl, data[last.at:]))
	c.add(of, "with DNL", slices.Concat(data[:last.at], dnl, data[last.at:]))
	for bits := range 17 {
		c.add(of, fmt.Sprintf("of %d bits", bits), changed(data, p.body, byte(bits)))
	}
	for m := byte(0xC0); m < 0xD0; m++ {
		c.add(of, fmt.Sprintf("as frame %02X", m), changed(data, p.at+1, m))
	}
	for i := p.body + 6; i+2 < p.data; i += 3 {
		for _, s := range []byte{0x11, 0x12, 0x21, 0x22, 0x31, 0x13, 0x41, 0x14, 0x44, 0x33, 0x10, 0x01, 0x51} {
			c.add(of, fmt.Sprintf("sampling %d is %#x", (i-p.body-6)/3, s), changed(data, i+1, s))
		}
	}
}

// entropy damages the image data of one scan.
func (c *corpus) entropy(of string, data []byte, p jpegPart) {
	n := p.end - p.data
	for i := range 24 {
		at := p.data + n*i/24
		c.add(of, fmt.Sprintf("data: bit flipped at %d", at), changed(data, at, data[at]^(1<<(i%8))))
	}
	for i := range 6 {
		at := p.data + n*i/6
		for _, m := range []byte{0xD0, 0xD3, 0xD7, 0xD9, 0xC4, 0xD8, 0xFE, 0xFF, 0x01} {
			c.add(of, fmt.Sprintf("data: marker %02X at %d", m, at), slices.Concat(data[:at], []byte{0xFF, m}, data[at:]))
		}
		c.add(of, fmt.Sprintf("data: 40 bytes more at %d", at), slices.Concat(data[:at], bytes.Repeat([]byte{0x5A}, 40), data[at:]))
		c.add(of, fmt.Sprintf("data: left out to %d", at), slices.Concat(data[:p.data], data[at:]))
		c.add(of, fmt.Sprintf("data: left out from %d", at), slices.Concat(data[:at], data[p.end:]))
	}
	for _, v := range []byte{0, 0x55, 0xFE} {
		c.add(of, fmt.Sprintf("data: all %#x", v), slices.Concat(data[:p.data], bytes.Repeat([]byte{v}, n), data[p.end:]))
	}
	c.add(of, "data: 200 kB of zeros", slices.Concat(data[:p.data], make([]byte, 200_000), data[p.end:]))
	c.add(of, "data: 200 kB of garbage behind", slices.Concat(data[:p.end], bytes.Repeat([]byte{0x5A}, 200_000), data[p.end:]))
	if i := bytes.Index(data[p.data:p.end], []byte{0xFF, 0xD0}); i > 0 {
		c.add(of, "data: restart marker missing", slices.Concat(data[:p.data+i], data[p.data+i+2:]))
		c.add(of, "data: wrong restart marker", changed(data, p.data+i+1, 0xD3))
	}
}
