package gpudecode

import (
	"bytes"

	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// maxScans is how many scans a progressive JPEG may have: more of them only cost time, and the CPU's decoder limits
// that.
const maxScans = 100

// header is what decides where a JPEG is decoded.
type header struct {
	w, h       int
	components int
	// mcuW and mcuH are the size in pixels of what is coded together: 8 or more, by the sampling of the colours.
	mcuW, mcuH  int
	progressive bool
}

// inspect reads the header of a JPEG for results of so many channels, and follows its markers to the end. It returns
// the Reason why the GPU does not decode it, or "". A JPEG that is damaged, or that no ordinary encoder writes, is left
// to the CPU's decoder: only there damage is what Pillow calls damage.
func inspect(data []byte, channels int) (h header, reason string) {
	if !bytes.HasPrefix(data, []byte{0xFF, jpeg.MarkSOI, 0xFF}) {
		return h, ReasonNotJPEG
	}
	size, err := jpeg.Inspect(data)
	if err != nil {
		return h, ReasonIrregular
	}
	if irregular, err := jpeg.CheckStructure(data); err != nil || irregular != "" {
		return h, ReasonIrregular
	}
	if bytes.Count(data, []byte{0xFF, jpeg.MarkSOS}) > maxScans {
		return h, ReasonIrregular
	}
	h.w, h.h = size.W, size.H
	return h, h.read(data, channels)
}

// read reads the segments before the image data, which CheckStructure has found to be regular.
func (h *header) read(data []byte, channels int) (reason string) {
	rgb := false // the components are red, green and blue themselves
	for i := 2; ; {
		mark, next, ok := jpeg.NextMarker(data, i)
		if !ok || mark == jpeg.MarkSOS {
			break
		}
		body, end, err := jpeg.Segment(data, next)
		if err != nil {
			return ReasonIrregular
		}
		switch {
		case jpeg.IsSOF(mark):
			if h.progressive = mark == jpeg.MarkSOF2; !h.frame(body) {
				return ReasonKind
			}
			rgb = rgb || h.components == 3 && body[6] == 'R' && body[9] == 'G' && body[12] == 'B'
		case mark == markAPP14 && len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")):
			rgb = rgb || body[11] == 0
		}
		i = end
	}
	switch {
	case h.components == 3 && channels == 1:
		return ReasonGray
	case h.components == 3 && rgb, h.components != 3 && h.components != 1:
		return ReasonColors
	}
	return ""
}

// markAPP14 begins Adobe's segment, which says how colours are stored.
const markAPP14 = 0xEE

// frame reads a frame header. It reports false if the colours are sampled in a way that encoders do not use.
func (h *header) frame(body []byte) bool {
	h.components, h.mcuW, h.mcuH = int(body[5]), 8, 8
	if h.components != 3 {
		return true
	}
	h.mcuW, h.mcuH = 8*int(body[7]>>4), 8*int(body[7]&15)
	return body[10] == 0x11 && body[13] == 0x11
}

// region returns the part of the image that is decoded for window: whole MCUs and one more on each side, because the
// colours of pixels at the edge are interpolated with those of their neighbours. Of a progressive JPEG, which has to be
// read to its end anyway, it is all.
func (h *header) region(window pixel.Rect) pixel.Rect {
	if h.progressive {
		return pixel.Rect{W: h.w, H: h.h}
	}
	x0, x1 := grown(window.X, window.X+window.W, h.mcuW, h.w)
	y0, y1 := grown(window.Y, window.Y+window.H, h.mcuH, h.h)
	return pixel.Rect{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}
}

// grown widens the range [from, to) of n pixels to multiples of unit and by one unit on each side.
func grown(from, to, unit, n int) (int, int) {
	return max(from/unit-1, 0) * unit, min((to+unit-1)/unit*unit+unit, n)
}
