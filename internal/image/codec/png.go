package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

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
