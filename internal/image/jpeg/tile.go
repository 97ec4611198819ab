package jpeg

import "encoding/binary"

// Tile returns the width and height in pixels of the parts of a JPEG that can be decoded without the others,
// because restart markers separate them; 0 if there are none.
func Tile(data []byte) (w, h int) {
	var frame []byte
	interval := 0
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		if !ok {
			return 0, 0
		}
		if Standalone(mark) {
			i = next
			continue
		}
		body, end, err := Segment(data, next)
		switch {
		case err != nil || mark == MarkEOI:
			return 0, 0
		case mark == MarkDRI && len(body) >= 2:
			interval = int(binary.BigEndian.Uint16(body))
		case IsSOF(mark) && mark > MarkSOF0+1: // progressive, or by arithmetic coding
			return 0, 0
		case IsSOF(mark):
			frame = body
		case mark == MarkSOS:
			return tile(frame, interval)
		}
		i = end
	}
}

// tile is Tile of a sequential JPEG by its frame header and the number of MCUs between markers.
func tile(frame []byte, interval int) (w, h int) {
	if interval == 0 || len(frame) < 9 {
		return 0, 0
	}
	across, down := 1, 1
	for c := 6; frame[5] > 1 && c+2 < len(frame); c += 3 {
		across, down = max(across, int(frame[c+1]>>4)), max(down, int(frame[c+1]&15))
	}
	width := int(binary.BigEndian.Uint16(frame[3:]))
	row := (width + 8*across - 1) / (8 * across)
	if row%interval != 0 { // a marker is not where a row of MCUs begins
		interval = row
	}
	return 8 * across * interval, 8 * down
}
