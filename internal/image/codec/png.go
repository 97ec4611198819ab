package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// pngChunks are the chunks of a PNG that define its pixels, as Pillow finds them: checksums are
// checked up to the first IDAT, chunks that are unknown or out of order are skipped.
type pngChunks struct {
	header, palette []byte
	pixels          []byte // a zlib stream
	transparent     bool   // it has transparent colours
	rules           pngRules
}

// nextChunk is chunk without its checksum. ok is false where Pillow stops reading. A body may be
// shorter than n at the end of the data.
func nextChunk(data []byte, i int) (kind, body []byte, n int, ok bool) {
	if len(data)-i < 8 || !isChunkName(data[i+4:i+8]) {
		return nil, nil, 0, false
	}
	n = int(binary.BigEndian.Uint32(data[i:]))
	body = data[i+8:]
	return data[i+4 : i+8], body[:min(n, len(body))], n, true
}

func isChunkName(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
			return false
		}
	}
	return true
}

// readPNG reads all chunks up to IEND.
func readPNG(data []byte) (p pngChunks, err error) {
	at, err := p.readBeforePixels(data)
	if err != nil {
		return p, err
	}
	for {
		kind, body, n, ok := nextChunk(data, at)
		if !ok || string(kind) != "IDAT" {
			return p, p.readAfterPixels(data, at)
		}
		at += 12 + n
		if p.pixels == nil {
			p.pixels = body[:len(body):len(body)] // a full slice: append copies it and leaves data alone
			continue
		}
		p.pixels = append(p.pixels, body...)
	}
}

// readBeforePixels reads up to the first IDAT, which begins at data[at:].
func (p *pngChunks) readBeforePixels(data []byte) (at int, err error) {
	for at = len(pngMagic); ; {
		kind, body, n, ok := nextChunk(data, at)
		switch {
		case !ok && len(data)-at < 8:
			return 0, fmt.Errorf("%w: before the PNG's pixels", pixel.ErrTruncated)
		case !ok:
			return 0, fmt.Errorf("%w: a PNG chunk called %q", pixel.ErrCorrupt, data[at+4:at+8])
		case string(kind) == "IDAT" && p.rules.partialFrame, string(kind) == "fdAT":
			return 0, fmt.Errorf("%w: an APNG whose first frame is smaller than the image", pixel.ErrUnsupported)
		case string(kind) == "IDAT" && p.header == nil:
			return 0, fmt.Errorf("%w: a PNG without header", pixel.ErrCorrupt)
		case string(kind) == "IDAT" && p.header[9] == pngPalette && (p.palette == nil && p.transparent || len(p.palette) >= 3*257):
			return 0, fmt.Errorf("%w: a PNG with a palette of %d bytes", pixel.ErrCorrupt, len(p.palette))
		case string(kind) == "IDAT":
			return at, nil
		case string(kind) == "IEND":
			return 0, fmt.Errorf("%w: a PNG without pixels", pixel.ErrCorrupt)
		case len(data)-at-12 < n:
			return 0, fmt.Errorf("%w: inside the PNG chunk %q", pixel.ErrTruncated, kind)
		}
		if err := p.take(kind, body); err != nil {
			return 0, err
		}
		if crc32.ChecksumIEEE(data[at+4:at+8+n]) != binary.BigEndian.Uint32(data[at+8+n:]) {
			return 0, fmt.Errorf("%w: the PNG chunk %q fails its checksum", pixel.ErrCorrupt, kind)
		}
		at += 12 + n
	}
}

func (p *pngChunks) take(kind, body []byte) error {
	switch string(kind) {
	case "IHDR":
		p.header = body
	case "PLTE":
		p.palette = body
	case "tRNS":
		p.transparent = true
	}
	return p.rules.check(kind, body, p.header)
}

// readAfterPixels checks the chunks after the pixels.
func (p *pngChunks) readAfterPixels(data []byte, at int) error {
	animated := p.rules.animated()
	for {
		kind, body, n, ok := nextChunk(data, at)
		if !ok || string(kind) == "IEND" || string(kind) == "fcTL" && animated {
			return nil
		}
		if len(body) < n {
			return fmt.Errorf("%w: inside the PNG chunk %q", pixel.ErrTruncated, kind)
		}
		if err := p.rules.check(kind, body, p.header); err != nil {
			return err
		}
		at += 12 + n
	}
}

// isIntact reports whether the chunks are what the specification asks for, each with its checksum. Pillow does not ask for all of it.
func (p *pngChunks) isIntact(data []byte) bool {
	stage, colors := "", 0 // the last of IHDR, PLTE, tRNS and IDAT that was seen, and the colours of the palette
	color, bits := p.header[9], p.header[8]
	for i := len(pngMagic); ; {
		kind, body, crc, next, err := chunk(data, i)
		if err != nil || crc32.ChecksumIEEE(data[i+4:next-4]) != crc {
			return false
		}
		ok := true
		switch name := string(kind); name {
		case "IHDR":
			ok, stage = stage == "" && len(body) == 13 && body[10] == 0 && body[12] < 2, name
		case "PLTE":
			colors = len(body) / 3
			ok = stage == "IHDR" && len(body)%3 == 0 && colors > 0 && colors <= min(256, 1<<bits) && color != pngGray && color != pngGrayAlpha
			stage = name
		case "tRNS":
			ok = stage == "IHDR" || stage == "PLTE" && color != pngGray
			switch color {
			case pngGray:
				ok = ok && len(body) == 2
			case pngRGB:
				ok = ok && len(body) == 6
			case pngPalette:
				ok = stage == "PLTE" && len(body) <= 256
			default:
				ok = false
			}
			stage = name
		case "IDAT":
			ok, stage = stage != "" && (color != pngPalette || colors > 0), name
		case "IEND":
			return stage == "IDAT" && len(body) == 0
		}
		if !ok {
			return false
		}
		i = next
	}
}

// maxText limits the size of one compressed text or profile (Pillow's MAX_TEXT_CHUNK), maxTexts
// that of all texts together.
const (
	maxText  = 1 << 20
	maxTexts = 64 * maxText
)

// pngRules checks chunks other than pixels as Pillow does.
type pngRules struct {
	text         int  // bytes of text so far
	frames       int  // of an animation
	sequence     int  // next sequence number of its chunks
	partialFrame bool // the first frame of an animation is smaller than the image
}

// animated reports whether Pillow stops at the second frame.
func (r *pngRules) animated() bool { return r.frames > 0 }

func (r *pngRules) check(kind, body, header []byte) error {
	if len(body) < shortestChunk(kind, header) {
		return fmt.Errorf("%w: the PNG chunk %q has %d bytes", pixel.ErrCorrupt, kind, len(body))
	}
	switch string(kind) {
	case "IHDR":
		if body[11] != 0 {
			return fmt.Errorf("%w: PNG filter method %d", pixel.ErrCorrupt, body[11])
		}
	case "iCCP", "zTXt":
		return r.checkCompressed(kind, body)
	case "tEXt":
		return r.addText(len(body))
	case "iTXt":
		return r.checkInternational(body)
	case "acTL":
		if n := binary.BigEndian.Uint32(body); r.frames == 0 && n <= 1<<31 {
			r.frames = int(n)
		} else {
			r.frames = 0
		}
	case "fcTL", "fdAT":
		return r.checkAnimation(kind, body, header)
	}
	return nil
}

// shortestChunk is the minimum length of a chunk.
func shortestChunk(kind, header []byte) int {
	switch string(kind) {
	case "IHDR":
		return 13
	case "gAMA", "fdAT":
		return 4
	case "cHRM":
		return 32
	case "sRGB", "iCCP":
		return 1
	case "pHYs":
		return 9
	case "acTL":
		return 8
	case "fcTL":
		return 26
	case "tRNS":
		return shortestTransparency(header)
	}
	return 0
}

func shortestTransparency(header []byte) int {
	if len(header) < 13 {
		return 0
	}
	switch header[9] {
	case pngGray:
		return 2
	case pngRGB:
		if header[8] == 8 || header[8] == 16 {
			return 6
		}
	}
	return 0
}

// checkCompressed checks a body of NAME 0 METHOD STREAM. A damaged stream counts as empty.
func (r *pngRules) checkCompressed(kind, body []byte) error {
	name, rest, _ := bytes.Cut(body, []byte{0})
	if string(kind) == "iCCP" && len(rest) == 0 {
		if len(name) == len(body) { // without a 0 Pillow takes the first byte for the method
			rest = body
		} else {
			return fmt.Errorf("%w: the PNG chunk %q has %d bytes", pixel.ErrCorrupt, kind, len(body))
		}
	}
	if len(rest) == 0 {
		return nil
	}
	if rest[0] != 0 {
		return fmt.Errorf("%w: compression method %d in the PNG chunk %q", pixel.ErrCorrupt, rest[0], kind)
	}
	n, err := textLength(kind, rest[1:])
	if err != nil || string(kind) == "iCCP" {
		return err
	}
	return r.addText(n)
}

// checkInternational checks the body of an iTXt chunk.
func (r *pngRules) checkInternational(body []byte) error {
	_, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) < 2 {
		return nil
	}
	parts := bytes.SplitN(rest[2:], []byte{0}, 3)
	switch {
	case len(parts) < 3:
		return nil
	case rest[0] == 0:
		return r.addText(len(parts[2]))
	case rest[1] != 0:
		return nil
	}
	n, err := textLength([]byte("iTXt"), parts[2])
	if err != nil {
		return err
	}
	return r.addText(n)
}

// addText counts n more bytes of text.
func (r *pngRules) addText(n int) error {
	if r.text += n; r.text > maxTexts {
		return fmt.Errorf("%w: more than %d bytes of text in a PNG", pixel.ErrTooLarge, maxTexts)
	}
	return nil
}

// textLength is the length of a decompressed stream.
func textLength(kind, stream []byte) (int, error) {
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return 0, nil //nolint:nilerr // as Pillow does
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, maxText+1))
	switch {
	case n > maxText:
		return 0, fmt.Errorf("%w: the PNG chunk %q holds more than %d bytes", pixel.ErrTooLarge, kind, maxText)
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return 0, nil
	}
	return int(n), nil
}

// checkAnimation checks the sequence numbers and frame rectangle of an animation's chunk.
func (r *pngRules) checkAnimation(kind, body, header []byte) error {
	be := binary.BigEndian
	if be.Uint32(body) != uint32(r.sequence) {
		return fmt.Errorf("%w: APNG frames out of sequence", pixel.ErrCorrupt)
	}
	r.sequence++
	switch {
	case string(kind) == "fdAT":
		return nil
	case len(header) < 13:
		r.partialFrame = true
		return nil
	}
	w, h, x, y := uint64(be.Uint32(body[4:])), uint64(be.Uint32(body[8:])), uint64(be.Uint32(body[12:])), uint64(be.Uint32(body[16:]))
	canvasW, canvasH := uint64(be.Uint32(header)), uint64(be.Uint32(header[4:]))
	if x+w > canvasW || y+h > canvasH {
		return fmt.Errorf("%w: an APNG frame outside of the image", pixel.ErrCorrupt)
	}
	r.partialFrame = w != canvasW || h != canvasH
	return nil
}
