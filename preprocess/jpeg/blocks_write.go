package jpeg

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errRange is of coefficients that a sequential JPEG of 8 bits cannot have.
var errRange = errors.New("coefficients beyond a baseline JPEG's")

// jpegWriter writes the blocks of a JPEG as one scan: the pure-Go twin of jpeg_entropy.c.
// First it counts symbols, then it writes them.
type jpegWriter struct {
	counts [2][2][256]int // of DC and AC, of brightness and colours
	codes  [2][2][256]struct {
		code uint32
		size int
	}
	out   []byte
	write bool // not while symbols are counted
	bits  uint64
	n     int
}

// appendJPEG appends b with a restart marker every interval MCUs, behind meta.
func (w *jpegWriter) appendJPEG(dst, meta []byte, b *JpegBlocks, interval int) ([]byte, error) {
	*w = jpegWriter{}
	if err := w.blocks(b, interval); err != nil {
		return dst, err
	}
	out := append(append(dst, 0xFF, MarkSOI), meta...)
	out = appendFrame(appendQuantization(out, b), b)
	for i := range w.counts[0] {
		for class := range w.counts {
			lengths, symbols := bestTable(&w.counts[class][i])
			if len(symbols) == 0 {
				continue
			}
			w.define(class, i, lengths, symbols)
			out = binary.BigEndian.AppendUint16(append(out, 0xFF, MarkDHT), uint16(19+len(symbols)))
			out = append(append(append(out, byte(class<<4|i)), lengths[1:]...), symbols...)
		}
	}
	w.out, w.write = appendScan(out, b, interval), true
	if err := w.blocks(b, interval); err != nil {
		return dst, err
	}
	w.flush()
	return append(w.out, 0xFF, MarkEOI), nil
}

func (b *JpegBlocks) wide() bool {
	for i := range b.list {
		if isWide(&b.list[i].quant) {
			return true
		}
	}
	return false
}

func isWide(q *[64]uint16) bool {
	for _, v := range q {
		if v > 255 {
			return true
		}
	}
	return false
}

func appendQuantization(out []byte, b *JpegBlocks) []byte {
	var have [4]bool
	for i := range b.list {
		c := &b.list[i]
		if have[c.table] {
			continue
		}
		have[c.table] = true
		if isWide(&c.quant) {
			out = append(out, 0xFF, MarkDQT, 0, 131, 1<<4|c.table)
			for _, v := range c.quant {
				out = binary.BigEndian.AppendUint16(out, v)
			}
			continue
		}
		out = append(out, 0xFF, MarkDQT, 0, 67, c.table)
		for _, v := range c.quant {
			out = append(out, byte(v))
		}
	}
	return out
}

func appendFrame(out []byte, b *JpegBlocks) []byte {
	mark := byte(MarkSOF0)
	if b.wide() {
		mark++
	}
	out = append(out, 0xFF, mark, 0, byte(8+3*len(b.list)), 8, byte(b.h>>8), byte(b.h), byte(b.w>>8), byte(b.w), byte(len(b.list)))
	for i := range b.list {
		out = append(out, b.list[i].id, b.list[i].factors, b.list[i].table)
	}
	return out
}

func appendScan(out []byte, b *JpegBlocks, interval int) []byte {
	out = append(out, 0xFF, MarkDRI, 0, 4, byte(interval>>8), byte(interval))
	out = append(out, 0xFF, MarkSOS, 0, byte(6+2*len(b.list)), byte(len(b.list)))
	for i := range b.list {
		out = append(out, b.list[i].id, byte(tablesOf(i)*0x11))
	}
	return append(out, 0, 63, 0)
}

// tablesOf is 1 for components that use the second Huffman tables, as colours do.
func tablesOf(component int) int {
	if component == 1 || component == 2 {
		return 1
	}
	return 0
}

func (w *jpegWriter) define(class, i int, lengths [17]byte, symbols []byte) {
	code, k := uint32(0), 0
	for size := 1; size <= 16; size++ {
		for range lengths[size] {
			e := &w.codes[class][i][symbols[k]]
			e.code, e.size = code, size
			code, k = code+1, k+1
		}
		code <<= 1
	}
}

// blocks counts or writes all blocks.
func (w *jpegWriter) blocks(b *JpegBlocks, interval int) error {
	var dc [4]int
	for mcu := range b.across * b.rows {
		if mcu > 0 && mcu%interval == 0 {
			w.restart(byte(mcu/interval-1) & 7)
			dc = [4]int{}
		}
		x, y := mcu%b.across, mcu/b.across
		if x == 0 {
			if err := b.stop.Err(); err != nil {
				return err
			}
		}
		for i := range b.list {
			c := &b.list[i]
			for v := range c.v {
				for h := range c.h {
					block := &c.blocks[(y*c.v+v)*c.stride+x*c.h+h]
					if err := w.block(block, int(block[0])-dc[i], tablesOf(i)); err != nil {
						return err
					}
					dc[i] = int(block[0])
				}
			}
		}
	}
	return nil
}

// block counts or writes one block (T.81, F.1.2).
func (w *jpegWriter) block(block *[64]int16, diff, tables int) error {
	const dcRange, acRange = 2047, 1023
	if diff < -dcRange || diff > dcRange {
		return errRange
	}
	w.value(0, tables, 0, diff)
	run := 0
	for _, v := range block[1:] {
		if v == 0 {
			run++
			continue
		}
		if v < -acRange || v > acRange {
			return errRange
		}
		for ; run > 15; run -= 16 {
			w.symbol(1, tables, 0xF0)
		}
		w.value(1, tables, run, int(v))
		run = 0
	}
	if run > 0 {
		w.symbol(1, tables, 0)
	}
	return nil
}

func (w *jpegWriter) value(class, tables, run, v int) {
	size := bits.Len(uint(max(v, -v)))
	w.symbol(class, tables, byte(run<<4|size))
	if v < 0 {
		v--
	}
	w.put(uint32(v)&(1<<size-1), size)
}

func (w *jpegWriter) symbol(class, tables int, s byte) {
	w.counts[class][tables][s]++
	if w.write {
		e := &w.codes[class][tables][s]
		w.put(e.code, e.size)
	}
}

func (w *jpegWriter) put(v uint32, size int) {
	if !w.write {
		return
	}
	w.bits, w.n = w.bits<<size|uint64(v), w.n+size
	for ; w.n >= 8; w.n -= 8 {
		b := byte(w.bits >> (w.n - 8))
		if w.out = append(w.out, b); b == 0xFF {
			w.out = append(w.out, 0)
		}
	}
}

// flush fills the last byte up with ones.
func (w *jpegWriter) flush() {
	fill := -w.n & 7
	w.put(1<<fill-1, fill)
	w.bits, w.n = 0, 0
}

func (w *jpegWriter) restart(n byte) {
	w.flush()
	if w.write {
		w.out = append(w.out, 0xFF, MarkRST0+n)
	}
}
