package jpeg

import (
	"bytes"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// bitReader reads entropy-coded data up to a marker.
type bitReader struct {
	data []byte
	at   int
	bits uint32
	n    int
}

// fill has n bits ready, at most 25.
func (r *bitReader) fill(n int) bool {
	for r.n < n {
		if r.at >= len(r.data) {
			return false
		}
		v := r.data[r.at]
		if v == 0xFF {
			if r.at+1 >= len(r.data) || r.data[r.at+1] != 0 {
				return false
			}
			r.at++
		}
		r.at++
		r.bits, r.n = r.bits<<8|uint32(v), r.n+8
	}
	return true
}

var errEntropy = fmt.Errorf("%w: the JPEG's image data end too early", pixel.ErrCorrupt)

func (r *bitReader) read(n int) (int, error) {
	if !r.fill(n) {
		return 0, errEntropy
	}
	r.n -= n
	return int(r.bits>>r.n) & (1<<n - 1), nil
}

// extend reads a value of so many bits (T.81, F.2.2.1).
func (r *bitReader) extend(size int) (int, error) {
	v, err := r.read(size)
	if size > 0 && v < 1<<(size-1) {
		v += 1 - 1<<size
	}
	return v, err
}

func (r *bitReader) symbol(t *huffmanTable) (byte, error) {
	code := 0
	for size := 1; size <= 16; size++ {
		bit, err := r.read(1)
		if err != nil {
			return 0, err
		}
		if code = code<<1 | bit; code < t.end[size] {
			return t.symbols[t.index[size]+code], nil
		}
	}
	return 0, fmt.Errorf("%w: a bad Huffman code in a JPEG", pixel.ErrCorrupt)
}

// restart passes restart marker n.
func (r *bitReader) restart(n int) error {
	if end, err := r.finish(); err != nil || !bytes.HasPrefix(r.data[end:], []byte{0xFF, MarkRST0 + byte(n&7)}) {
		return fmt.Errorf("%w: a restart marker is missing in a JPEG", pixel.ErrCorrupt)
	}
	*r = bitReader{data: r.data, at: r.at + 2}
	return nil
}

// finish gives the place of the marker, which has to come after the last byte that was begun.
func (r *bitReader) finish() (int, error) {
	if r.n > 7 || r.at+1 >= len(r.data) || r.data[r.at] != 0xFF || r.data[r.at+1] == 0 {
		return 0, fmt.Errorf("%w: more image data than the JPEG has blocks", pixel.ErrCorrupt)
	}
	return r.at, nil
}

// huffmanTable decodes bit by bit (T.81, F.2.2.3).
type huffmanTable struct {
	end     [17]int // of the codes of a size; -1 if there is none
	index   [17]int // what to add to a code for its symbol's place
	symbols []byte
}

func (t *huffmanTable) define(counts, symbols []byte) {
	t.symbols = append(t.symbols[:0], symbols...)
	code, k := 0, 0
	for size := 1; size <= 16; size++ {
		n := int(counts[size-1])
		t.index[size] = k - code
		code, k = code+n, k+n
		t.end[size] = code
		if n == 0 {
			t.end[size] = -1
		}
		code <<= 1
	}
}
