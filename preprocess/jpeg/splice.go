package jpeg

import (
	"bytes"
	"encoding/binary"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Splicer makes a small JPEG of those tiles of a restart-tiled one in which a region lies. At
// every restart marker a decoder begins anew, so that what lies between two of them, a run of
// MCUs, can be decoded alone. A tile is such a run where runs divide rows, or rows divide
// runs. The zero value is ready; it keeps its memory.
type Splicer struct {
	out   []byte
	ends  []int // of the runs, up to the last that is needed
	frame tiledFrame
}

// spliced is the JPEG of some tiles, valid until the splicer's next splice.
type spliced struct {
	Data []byte
	W, H int
}

// tiledFrame is what a JPEG's header says of its tiles.
type tiledFrame struct {
	w, h         int
	mcuW, mcuH   int // in pixels
	tileW, tileH int // in pixels
	across, down int // tiles
	margin       [2]int
	narrow       int // libjpeg does not interpolate the colours of images of so few columns
	scan         int // where the image data begin
}

// Splice gives the tiles in which r lies, and where in them. It is not ok where data has no
// tiles, where nothing is gained, or where something is unusual: then data itself is to be
// decoded. The JPEG's pixels in r are data's because the tiles hold a margin around r where
// colours are interpolated.
func (s *Splicer) Splice(data []byte, r pixel.Rect) (t spliced, part pixel.Rect, ok bool) {
	sof, ok := s.header(data)
	if !ok {
		return t, part, false
	}
	f := &s.frame
	left, right := span(r.X, r.W, f.margin[0], f.tileW, f.across)
	top, bottom := span(r.Y, r.H, f.margin[1], f.tileH, f.down)
	if f.w-left*f.tileW <= f.narrow {
		left = max(left-1, 0)
	}
	if top == 0 && left == 0 && right == f.across {
		return t, part, false // a decoder that stops after the last row does as well
	}
	if !s.index(data, f.across*(bottom-1)+right) {
		return t, part, false
	}
	x, y := left*f.tileW, top*f.tileH
	t.W, t.H = min(right*f.tileW, f.w)-x, min(bottom*f.tileH, f.h)-y
	binary.BigEndian.PutUint16(s.out[sof+1:], uint16(t.H))
	binary.BigEndian.PutUint16(s.out[sof+3:], uint16(t.W))
	n := 0
	for row := top; row < bottom; row++ {
		for i := row*f.across + left; i < row*f.across+right; i++ {
			begin := f.scan
			if i > 0 {
				begin = s.ends[i-1] + 2
			}
			s.out = append(s.out, data[begin:s.ends[i]]...)
			s.out = append(s.out, 0xFF, MarkRST0+byte(n&7))
			n++
		}
	}
	s.out[len(s.out)-1] = MarkEOI
	t.Data = s.out
	return t, pixel.Rect{X: r.X - x, Y: r.Y - y, W: r.W, H: r.H}, true
}

// span gives the tiles of one direction that n pixels from at on and the margin lie in.
func span(at, n, margin, tile, tiles int) (first, end int) {
	return max(at-margin, 0) / tile, min((at+n+margin+tile-1)/tile, tiles)
}

// header copies to s.out what a decoder has to know, up to the image data, and says where the
// frame header's body lies in it.
func (s *Splicer) header(data []byte) (sof int, ok bool) {
	s.out = append(s.out[:0], 0xFF, MarkSOI)
	interval := 0
	var frame []byte
	for i := 2; ; {
		mark, next, found := NextMarker(data, i)
		if !found || next-i != 2 || Standalone(mark) || mark == MarkEOI {
			return 0, false
		}
		body, end, err := segment(data, next)
		if err != nil {
			return 0, false
		}
		i = end
		switch {
		case IsSOF(mark):
			if frame != nil || mark > MarkSOF0+1 {
				return 0, false
			}
			frame, sof = body, len(s.out)+4
		case mark == MarkDRI:
			if len(body) != 2 {
				return 0, false
			}
			interval = int(binary.BigEndian.Uint16(body))
		case mark == markAPP0, mark == markAPPE, mark == MarkDQT, mark == MarkDHT, mark == MarkSOS:
			// APP0 and APPE tell of what colours the components are.
		case mark > markAPP0 && mark <= markAPPF, mark == markCOM:
			continue
		default:
			return 0, false
		}
		s.out = append(s.out, data[next-2:end]...)
		if mark == MarkSOS {
			return sof, s.frame.read(frame, body, interval, end)
		}
	}
}

// read fills f from the bodies of frame and scan header.
func (f *tiledFrame) read(frame, scan []byte, interval, at int) (ok bool) {
	if len(frame) < 6 || len(frame) != 6+3*int(frame[5]) || frame[0] != 8 || interval == 0 {
		return false
	}
	n := int(frame[5])
	if n < 1 || len(scan) != 4+2*n || int(scan[0]) != n || !bytes.Equal(scan[1+2*n:], []byte{0, 63, 0}) {
		return false
	}
	h, v, ok := sampling(frame)
	if !ok {
		return false
	}
	*f = tiledFrame{
		h: int(binary.BigEndian.Uint16(frame[1:])), w: int(binary.BigEndian.Uint16(frame[3:])),
		mcuW: 8 * h, mcuH: 8 * v, scan: at,
	}
	if h > 1 {
		f.margin[0], f.narrow = h, 2*h
	}
	if v > 1 {
		f.margin[1] = v
	}
	return f.divide(interval)
}

// sampling is the largest of the components' sampling factors.
func sampling(frame []byte) (h, v int, ok bool) {
	n := int(frame[5])
	for c := range n {
		factors := frame[7+3*c]
		h, v = max(h, int(factors>>4)), max(v, int(factors&15))
		if factors>>4 == 0 || factors&15 == 0 {
			return 0, 0, false
		}
	}
	if n == 1 { // one component alone is not interleaved: an MCU is a block
		h, v = 1, 1
	}
	return h, v, h <= 4 && v <= 4
}

// divide lays tiles of interval MCUs over the image.
func (f *tiledFrame) divide(interval int) (ok bool) {
	if f.w == 0 || f.h == 0 {
		return false
	}
	row, rows := (f.w+f.mcuW-1)/f.mcuW, (f.h+f.mcuH-1)/f.mcuH
	across, down := 1, 1
	switch {
	case row%interval == 0:
		across = row / interval
	case interval%row == 0:
		down = interval / row
	default:
		return false
	}
	f.tileW, f.tileH = row/across*f.mcuW, down*f.mcuH
	f.across, f.down = across, (rows+down-1)/down
	return true
}

// index finds where the first n tiles end.
func (s *Splicer) index(data []byte, n int) (ok bool) {
	s.ends = s.ends[:0]
	last := s.frame.across * s.frame.down
	for i := s.frame.scan; len(s.ends) < n; {
		j := bytes.IndexByte(data[i:], 0xFF)
		if j < 0 || i+j+1 >= len(data) {
			return false
		}
		i += j
		want := byte(MarkRST0 + len(s.ends)&7)
		if len(s.ends) == last-1 {
			want = MarkEOI
		}
		switch data[i+1] {
		case 0:
		case want:
			s.ends = append(s.ends, i)
		default:
			return false
		}
		i += 2
	}
	return true
}
