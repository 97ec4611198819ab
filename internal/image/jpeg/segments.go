package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// jpegSegments are the segments of a JPEG that the transcoder needs. They point into the file.
type jpegSegments struct {
	mark         byte     // of the frame
	frame        []byte   // body of the frame header
	meta         [][]byte // APPn and COM segments with their markers, in order
	betweenScans bool     // there is metadata after the first scan
	multiPicture bool     // more images may follow this one (CIPA DC-007, Multi-Picture Format)
	end          int      // offset after EOI
	scans        int      // up to the first broken marker
}

// findSegments finds the segments of a JPEG that inspectJPEG accepts.
func findSegments(data []byte) (p jpegSegments, err error) {
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		switch {
		case !ok:
			return p, fmt.Errorf("%w: the JPEG has no end marker", pixel.ErrTruncated)
		case mark == MarkEOI:
			p.end = next
			return p, nil
		case Standalone(mark):
			i = next
			continue
		}
		body, end, err := Segment(data, next)
		if err != nil {
			return p, err
		}
		switch {
		case IsSOF(mark) && p.frame == nil:
			p.mark, p.frame = mark, body
		case IsMetadata(mark): // APPn and COM
			p.meta = append(p.meta, data[next-2:end])
			p.betweenScans = p.betweenScans || p.scans > 0
			p.multiPicture = p.multiPicture || bytes.HasPrefix(body, []byte("MPF\x00"))
		}
		if i = end; mark == MarkSOS {
			p.scans++
			i = new(Checker).SkipScanData(data, i)
		}
	}
}

// blocksPerMCU is the number of blocks in an MCU of a scan of all components, 0 if the frame is
// invalid or has a single component.
func (p *jpegSegments) blocksPerMCU() int {
	if len(p.frame) < 6 || len(p.frame) != 6+3*int(p.frame[5]) || p.frame[5] < 2 {
		return 0
	}
	n := 0
	for c := 7; c < len(p.frame); c += 3 {
		n += int(p.frame[c]>>4) * int(p.frame[c]&15)
	}
	return n
}

// appendMeta appends all metadata segments.
func (p *jpegSegments) appendMeta(b []byte) []byte {
	for _, s := range p.meta {
		b = append(b, s...)
	}
	return b
}

// appendStripped appends only the metadata that decide colours and orientation: JFIF's header
// without its thumbnail, Adobe's, and an EXIF block of one tag.
func (p *jpegSegments) appendStripped(b []byte, orientation int) []byte {
	const jfif = 14 // the header's length, up to the thumbnail's size
	for _, s := range p.meta {
		if body := s[4:]; s[1] == markAPP0 && len(body) >= jfif && bytes.HasPrefix(body, []byte("JFIF\x00")) {
			b = append(b, 0xFF, markAPP0, 0, 2+jfif)
			b = append(append(b, body[:jfif-2]...), 0, 0)
			break
		}
	}
	if orientation != 1 {
		b = append(b, 0xFF, markAPP1, 0, 34)
		b = append(b, "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01"...)
		b = append(b, exif.TagOrientation>>8, exif.TagOrientation&255, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0, 0, 0, 0, 0)
	}
	for _, s := range p.meta {
		if s[1] == markAPPE && bytes.HasPrefix(s[4:], []byte("Adobe")) {
			b = append(b, s...)
		}
	}
	return b
}

// blocksAcross is the width of an MCU in blocks.
func (p *jpegSegments) blocksAcross() int {
	if p.frame[5] == 1 { // a single component is not interleaved: an MCU is a block
		return 1
	}
	h := 1
	for c := 7; c < len(p.frame); c += 3 {
		h = max(h, int(p.frame[c]>>4))
	}
	return h
}

// Each scan of a JPEG goes through all of its blocks, though its data may be a few bytes: a small
// file of thousands of scans would take minutes. Encoders write about ten scans. monitor.c has the
// same limits.
const (
	maxScans       = 500
	scansOfAnySize = 100     // whatever the size
	maxScanPixels  = 4 << 30 // of all scans together
)

// ErrScans is returned for a JPEG with so many scans that decoding it would take too long.
var ErrScans = fmt.Errorf("%w: a JPEG with more than %d scans, or more than %d that have more than %d million pixels together",
	pixel.ErrUnsupported, maxScans, scansOfAnySize, maxScanPixels/1_000_000)

// restartInterval returns the number of MCUs between the restart markers of a JPEG whose rows have
// row MCUs. A scan has one interval, and each row must begin after a marker, so that it is the
// largest divisor of row up to wanted. Divisors below 3 would make the file much larger with
// markers; then the interval is a whole row.
func restartInterval(row, wanted int) int {
	const smallest = 3
	for n := min(row, wanted); n >= min(smallest, wanted); n-- {
		if row%n == 0 {
			return n
		}
	}
	return row
}

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
