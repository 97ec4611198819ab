package jpeg

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// JpegBlocks are the quantised coefficients of a JPEG of 8 bits, baseline or progressive. It
// is the pure-Go twin of what the transcoder has libjpeg read, for JPEGs whose structure
// checkJPEG finds usual: anything odd is an error. The zero value is ready; its memory is
// reused.
type JpegBlocks struct {
	w, h        int
	Progressive bool
	list        []jpegComponent
	across      int // MCUs of a row
	rows        int // rows of MCUs
	Interval    int
	quant       [4][64]uint16 // in zigzag order, as are coefficients
	huffman     [2][4]huffmanTable
	bits        bitReader
	run         int // of blocks without further AC coefficients (T.81, G.1.2.2)
	stop        *pixel.Stop
}

// jpegComponent is one component with the blocks that fill up whole MCUs.
type jpegComponent struct {
	id, factors, table byte
	h, v               int        // blocks in an MCU
	w, rows            int        // blocks that have pixels
	quant              [64]uint16 // as it was at the component's first scan
	known              [64]byte   // the lowest known bit of each coefficient, plus 1; 0 if none is
	stride             int        // blocks
	blocks             [][64]int16
	dc                 int
}

// Read reads the coefficients of data, behind whose EOI may lie anything.
func (b *JpegBlocks) Read(data []byte) error {
	b.list, b.Interval = b.list[:0], 0
	scans := 0
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		if !ok {
			return fmt.Errorf("%w: the JPEG has no end marker", pixel.ErrTruncated)
		}
		if mark == MarkEOI {
			return nil
		}
		body, end, err := segment(data, next)
		if err != nil {
			return err
		}
		i = end
		switch {
		case mark == MarkDQT:
			b.quantization(body)
		case mark == MarkDHT:
			b.huffmanTables(body)
		case mark == MarkDRI:
			b.Interval = int(binary.BigEndian.Uint16(body))
		case IsSOF(mark):
			b.frame(mark, body)
		case mark == MarkSOS:
			scans++
			if err := checkScans(scans, b.h, b.w); err != nil {
				return err
			}
			if i, err = b.scan(data, body, end); err != nil {
				return err
			}
		}
	}
}

func (b *JpegBlocks) quantization(body []byte) {
	for len(body) > 0 {
		q, wide := &b.quant[body[0]&15], body[0]>>4 != 0
		body = body[1:]
		for k := range q {
			if wide {
				q[k], body = binary.BigEndian.Uint16(body), body[2:]
			} else {
				q[k], body = uint16(body[0]), body[1:]
			}
		}
	}
}

func (b *JpegBlocks) huffmanTables(body []byte) {
	for len(body) > 0 {
		n := 17
		for _, count := range body[1:17] {
			n += int(count)
		}
		b.huffman[body[0]>>4][body[0]&15].define(body[1:17], body[17:n])
		body = body[n:]
	}
}

func (b *JpegBlocks) frame(mark byte, body []byte) {
	b.Progressive = mark == MarkSOF2
	b.h, b.w = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	n := int(body[5])
	if cap(b.list) < n {
		b.list = make([]jpegComponent, n)
	}
	b.list = b.list[:n]
	mostH, mostV := 1, 1
	for i := range b.list {
		mostH, mostV = max(mostH, int(body[7+3*i]>>4)), max(mostV, int(body[7+3*i]&15))
	}
	b.across, b.rows = (b.w+8*mostH-1)/(8*mostH), (b.h+8*mostV-1)/(8*mostV)
	if n == 1 { // one component alone has MCUs of one block
		b.across, b.rows = (b.w+7)/8, (b.h+7)/8
	}
	for i := range b.list {
		c, s := &b.list[i], body[6+3*i:]
		c.id, c.factors, c.table, c.known = s[0], s[1], s[2], [64]byte{}
		c.h, c.v = int(s[1]>>4), int(s[1]&15)
		c.w, c.rows = (b.w*c.h+8*mostH-1)/(8*mostH), (b.h*c.v+8*mostV-1)/(8*mostV)
		if n == 1 {
			c.h, c.v, c.w, c.rows = 1, 1, b.across, b.rows
		}
		c.stride = b.across * c.h
		if need := c.stride * b.rows * c.v; cap(c.blocks) < need {
			c.blocks = make([][64]int16, need)
		} else {
			c.blocks = c.blocks[:need]
			clear(c.blocks)
		}
	}
}

// SameAs says whether pixels of both are the same.
func (b *JpegBlocks) SameAs(o *JpegBlocks) bool {
	if b.w != o.w || b.h != o.h || len(b.list) != len(o.list) {
		return false
	}
	for i := range b.list {
		c, d := &b.list[i], &o.list[i]
		if c.id != d.id || c.factors != d.factors || c.quant != d.quant || len(c.blocks) != len(d.blocks) {
			return false
		}
		for k := range c.blocks {
			if c.blocks[k] != d.blocks[k] {
				return false
			}
		}
	}
	return true
}
