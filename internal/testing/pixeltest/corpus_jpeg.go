package pixeltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/internal/image/jpeg"
)

// jpegPart is a marker with its segment and, after SOS, the entropy-coded data.
type jpegPart struct {
	Mark           byte
	At, Body, Data int // where the marker, the segment's body and what follows it begin
	End            int
}

// SplitJPEG returns the markers of a JPEG with their segments.
func SplitJPEG(data []byte) []jpegPart {
	var list []jpegPart
	for i := 2; i < len(data); {
		mark, next, ok := jpeg.NextMarker(data, i)
		if !ok {
			break
		}
		p := jpegPart{Mark: mark, At: next - 2, Body: next, Data: next, End: next}
		if !jpeg.Standalone(mark) && mark != jpeg.MarkEOI {
			p.Body = next + 2
			p.Data = next + int(binary.BigEndian.Uint16(data[next:]))
			p.End = p.Data
		}
		if mark == jpeg.MarkSOS {
			p.End = new(jpeg.Checker).SkipScanData(data, p.Data)
		}
		list = append(list, p)
		i = p.End
	}
	return list
}

func (c *corpus) jpeg(name string, data []byte) {
	parts := SplitJPEG(data)
	for i, p := range parts {
		of := fmt.Sprintf("%s, %02X (%d)", name, p.Mark, i)
		for _, cut := range []int{p.At, p.At + 1, p.At + 2, p.At + 3, p.At + 4, (p.Body + p.Data) / 2, p.Data - 1, p.Data, p.Data + 1, (p.Data + p.End) / 2, p.End - 1} {
			c.add(of, fmt.Sprintf("cut at %d", cut), data[:min(cut, len(data))])
			c.add(of, fmt.Sprintf("cut at %d, EOI", cut), slices.Concat(data[:min(cut, len(data))], []byte{0xFF, 0xD9}))
		}
		c.add(of, "missing", slices.Concat(data[:p.At], data[p.End:]))
		c.add(of, "twice", slices.Concat(data[:p.End], data[p.At:p.End], data[p.End:]))
		c.add(of, "after fill bytes", slices.Concat(data[:p.At], bytes.Repeat([]byte{0xFF}, 7), data[p.At:]))
		c.add(of, "after garbage", slices.Concat(data[:p.At], []byte("garb\x00ge"), data[p.At:]))
		c.add(of, "after FF00", slices.Concat(data[:p.At], []byte{0xFF, 0}, data[p.At:]))
		for _, m := range []byte{0x01, 0x02, 0xC1, 0xC3, 0xC5, 0xC8, 0xC9, 0xCC, 0xD0, 0xD8, 0xD9, 0xDE, 0xDF, 0xF0, 0xF7, 0xFD} {
			c.add(of, fmt.Sprintf("after marker %02X", m), slices.Concat(data[:p.At], []byte{0xFF, m}, data[p.At:]))
			c.add(of, fmt.Sprintf("as %02X", m), Changed(data, p.At+1, m))
		}
		if p.Data == p.Body {
			continue
		}
		n := p.Data - p.Body + 2
		for _, wrong := range []int{0, 1, 2, 3, n + 1, n - 1, n + 16, 65535} {
			c.add(of, fmt.Sprintf("of length %d", wrong), Changed(data, p.At+2, byte(wrong>>8), byte(wrong)))
		}
		c.add(of, "without content", slices.Concat(data[:p.At], SegmentOf(p.Mark, nil), data[p.Data:]))
		c.add(of, "one byte more", slices.Concat(data[:p.At], SegmentOf(p.Mark, append(bytes.Clone(data[p.Body:p.Data]), 0)), data[p.Data:]))
		c.add(of, "one byte less", slices.Concat(data[:p.At], SegmentOf(p.Mark, data[p.Body:p.Data-1]), data[p.Data:]))
		for at := p.Body; at < min(p.Data, p.Body+24); at++ {
			for _, v := range []byte{0, 1, 4, 0x11, 0x55, 0xFF} {
				if data[at] != v {
					c.add(of, fmt.Sprintf("byte %d is %#x", at-p.Body, v), Changed(data, at, v))
				}
			}
		}
		if jpeg.IsSOF(p.Mark) {
			c.frame(of, data, parts, p)
		}
		if p.Mark == jpeg.MarkSOS {
			c.entropy(of, data, p)
		}
	}
}

// frame adds images with irregular frame headers.
func (c *corpus) frame(of string, data []byte, parts []jpegPart, p jpegPart) {
	h := data[p.Body+1 : p.Body+3]
	for _, size := range [][2]int{{0, 19}, {17, 0}, {0, 0}, {65500, 65500}, {65535, 65535}, {17, 65500}, {65500, 19}, {16, 19}, {18, 19}, {33, 19}, {17, 18}, {17, 40}, {1, 1}} {
		c.add(of, fmt.Sprintf("claims %dx%d", size[1], size[0]), Changed(data, p.Body+1, byte(size[0]>>8), byte(size[0]), byte(size[1]>>8), byte(size[1])))
	}
	last := parts[len(parts)-1]
	dnl := SegmentOf(0xDC, h)
	c.add(of, "height by DNL", slices.Concat(data[:p.Body+1], []byte{0, 0}, data[p.Body+3:last.At], dnl, data[last.At:]))
	c.add(of, "with DNL", slices.Concat(data[:last.At], dnl, data[last.At:]))
	for bits := range 17 {
		c.add(of, fmt.Sprintf("of %d bits", bits), Changed(data, p.Body, byte(bits)))
	}
	for m := byte(0xC0); m < 0xD0; m++ {
		c.add(of, fmt.Sprintf("as frame %02X", m), Changed(data, p.At+1, m))
	}
	for i := p.Body + 6; i+2 < p.Data; i += 3 {
		for _, s := range []byte{0x11, 0x12, 0x21, 0x22, 0x31, 0x13, 0x41, 0x14, 0x44, 0x33, 0x10, 0x01, 0x51} {
			c.add(of, fmt.Sprintf("sampling %d is %#x", (i-p.Body-6)/3, s), Changed(data, i+1, s))
		}
	}
}

// entropy damages the image data of one scan.
func (c *corpus) entropy(of string, data []byte, p jpegPart) {
	n := p.End - p.Data
	for i := range 24 {
		at := p.Data + n*i/24
		c.add(of, fmt.Sprintf("data: bit flipped at %d", at), Changed(data, at, data[at]^(1<<(i%8))))
	}
	for i := range 6 {
		at := p.Data + n*i/6
		for _, m := range []byte{0xD0, 0xD3, 0xD7, 0xD9, 0xC4, 0xD8, 0xFE, 0xFF, 0x01} {
			c.add(of, fmt.Sprintf("data: marker %02X at %d", m, at), slices.Concat(data[:at], []byte{0xFF, m}, data[at:]))
		}
		c.add(of, fmt.Sprintf("data: 40 bytes more at %d", at), slices.Concat(data[:at], bytes.Repeat([]byte{0x5A}, 40), data[at:]))
		c.add(of, fmt.Sprintf("data: left out to %d", at), slices.Concat(data[:p.Data], data[at:]))
		c.add(of, fmt.Sprintf("data: left out from %d", at), slices.Concat(data[:at], data[p.End:]))
	}
	for _, v := range []byte{0, 0x55, 0xFE} {
		c.add(of, fmt.Sprintf("data: all %#x", v), slices.Concat(data[:p.Data], bytes.Repeat([]byte{v}, n), data[p.End:]))
	}
	c.add(of, "data: 200 kB of zeros", slices.Concat(data[:p.Data], make([]byte, 200_000), data[p.End:]))
	c.add(of, "data: 200 kB of garbage behind", slices.Concat(data[:p.End], bytes.Repeat([]byte{0x5A}, 200_000), data[p.End:]))
	if i := bytes.Index(data[p.Data:p.End], []byte{0xFF, 0xD0}); i > 0 {
		c.add(of, "data: restart marker missing", slices.Concat(data[:p.Data+i], data[p.Data+i+2:]))
		c.add(of, "data: wrong restart marker", Changed(data, p.Data+i+1, 0xD3))
	}
}
