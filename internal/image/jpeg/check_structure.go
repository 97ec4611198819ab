package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Checker follows a JPEG's markers and the tables that they define. What ordinary encoders
// write passes. Anything else is reported as irregular: only a decoder can tell whether it is
// damaged.
type Checker struct {
	components  int
	ids         [4]byte
	progressive bool
	quant       [4]bool
	quantOf     [4]byte    // the quantisation table of each component
	huffman     [2][4]bool // DC and AC
	restarts    bool
	// missingBits are how many low bits of each coefficient of a progressive image are missing,
	// plus 1; 0 if all are.
	missingBits [4][64]byte
	irregular   string // what was found first
}

// report keeps the first irregularity.
func (w *Checker) report(what string) {
	if w.irregular == "" {
		w.irregular = what
	}
}

// CheckStructure follows the markers to EOI. inspectJPEG has checked that there is a frame and a scan,
// in order.
func CheckStructure(data []byte) (irregular string, err error) {
	var w Checker
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		if !ok {
			return "", fmt.Errorf("%w: the JPEG has no end marker", pixel.ErrTruncated)
		}
		if next-i != 2 {
			w.report("bytes between markers")
		}
		if mark == MarkEOI {
			return w.finish(), nil
		}
		if Standalone(mark) {
			w.report("a marker out of place")
			i = next
			continue
		}
		body, end, err := Segment(data, next)
		if err != nil {
			return "", err
		}
		if end-next < 4 && binary.BigEndian.Uint16(data[next:]) < 2 {
			w.report("a segment without length")
		}
		w.segment(mark, body)
		if i = end; mark == MarkSOS {
			i = w.SkipScanData(data, i)
		}
	}
}

func (w *Checker) segment(mark byte, body []byte) {
	var ok bool
	switch {
	case mark == MarkDQT:
		ok = w.quantization(body)
	case mark == MarkDHT:
		ok = w.huffmanTables(body)
	case IsSOF(mark):
		ok = w.frame(mark, body)
	case mark == MarkSOS:
		ok = w.scan(body)
	case mark == MarkDRI:
		ok = len(body) == 2
		w.restarts = w.restarts || ok && (body[0]|body[1]) != 0
	default:
		ok = mark >= markAPP0 && mark <= markAPPF || mark == markCOM
	}
	if !ok {
		w.report(fmt.Sprintf("the segment of marker %#x", mark))
	}
}

func (w *Checker) quantization(body []byte) bool {
	for len(body) > 0 {
		precision, n := body[0]>>4, 1+64*(1+int(body[0]>>4))
		if precision > 1 || body[0]&15 > 3 || len(body) < n {
			return false
		}
		w.quant[body[0]&15] = true
		body = body[n:]
	}
	return true
}

// huffmanTables checks what libjpeg does (jdhuff.c): codes that fit their length, none of them
// all ones, and DC symbols of at most 15.
func (w *Checker) huffmanTables(body []byte) bool {
	for len(body) > 0 {
		if len(body) < 17 || body[0]>>4 > 1 || body[0]&15 > 3 {
			return false
		}
		class, code, n := body[0]>>4, 0, 0
		for i, count := range body[1:17] {
			code, n = 2*code+int(count), n+int(count)
			if code >= 2<<i {
				return false
			}
		}
		if n > 256 || len(body) < 17+n {
			return false
		}
		for _, symbol := range body[17 : 17+n] {
			if class == 0 && symbol > 15 {
				return false
			}
		}
		w.huffman[class][body[0]&15] = true
		body = body[17+n:]
	}
	return true
}

func (w *Checker) frame(mark byte, body []byte) bool {
	if w.components > 0 || mark > MarkSOF2 || len(body) < 6 || len(body) != 6+3*int(body[5]) || body[5] > 4 {
		return false
	}
	w.components, w.progressive = int(body[5]), mark == MarkSOF2
	var maxFactor [2]byte
	for i := range w.components {
		c := body[6+3*i:]
		h, v := c[1]>>4, c[1]&15
		if h < 1 || h > 4 || v < 1 || v > 4 || c[2] > 3 || bytes.IndexByte(w.ids[:i], c[0]) >= 0 {
			return false
		}
		w.ids[i], w.quantOf[i] = c[0], c[2]
		maxFactor[0], maxFactor[1] = max(maxFactor[0], h), max(maxFactor[1], v)
	}
	blocks := 0
	for i := range w.components {
		c := body[6+3*i:]
		h, v := c[1]>>4, c[1]&15
		if maxFactor[0]%h != 0 || maxFactor[1]%v != 0 {
			return false
		}
		blocks += int(h * v)
	}
	return blocks <= 10 || w.components == 1
}

func (w *Checker) scan(body []byte) bool {
	if len(body) < 4 || body[0] < 1 || body[0] > 4 || len(body) != 4+2*int(body[0]) {
		return false
	}
	n := int(body[0])
	first, last, high, low := body[1+2*n], body[2+2*n], body[3+2*n]>>4, body[3+2*n]&15
	dc, ac := true, true // which tables the scan uses
	if w.progressive {
		dc, ac = first == 0 && high == 0, first > 0
		valid := first <= last && last < 64 && low <= 13 && (high == 0 || high == low+1)
		if !valid || first == 0 && last != 0 || ac && n != 1 {
			return false
		}
	} else if first != 0 || last != 63 || high != 0 || low != 0 {
		return false
	}
	from := 0
	for i := range n {
		id, tables := body[1+2*i], body[2+2*i]
		at := bytes.IndexByte(w.ids[from:w.components], id)
		if at < 0 || tables>>4 > 3 || tables&15 > 3 {
			return false
		}
		from += at + 1
		if !w.quant[w.quantOf[from-1]] {
			return false
		}
		if !w.progressive && w.missingBits[from-1][0] != 0 {
			return false // a second scan
		}
		for k := first; k <= last; k++ {
			w.missingBits[from-1][k] = low + 1
		}
		if dc && !w.huffman[0][tables>>4] || ac && !w.huffman[1][tables&15] {
			return false
		}
	}
	return true
}

// finish also reports missing scans.
func (w *Checker) finish() string {
	for i := range w.components {
		for _, b := range w.missingBits[i] {
			if b != 1 {
				w.report("scans are missing")
			}
		}
	}
	return w.irregular
}

// SkipScanData returns the end of the entropy-coded data that begin at data[i:].
func (w *Checker) SkipScanData(data []byte, i int) (end int) {
	for {
		j := bytes.IndexByte(data[i:], 0xFF)
		if j < 0 || i+j+1 >= len(data) {
			return len(data)
		}
		i += j
		switch m := data[i+1]; {
		case m == 0:
			i += 2
		case m >= MarkRST0 && m <= markRST7:
			if !w.restarts {
				w.report("restart markers without an interval")
			}
			i += 2
		case m == 0xFF:
			w.report("fill bytes in the image data")
			i++
		default:
			return i
		}
	}
}
