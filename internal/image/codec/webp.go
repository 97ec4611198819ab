package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeWebP decodes the first frame to its canvas, which is transparent black elsewhere.
func (d *Decoder) decodeWebP(dst *pixel.Image, data []byte, h pixel.Header, c pixel.Color) error {
	f, err := firstWebPFrame(data)
	if err == nil {
		err = f.check(h)
	}
	if err != nil {
		return err
	}
	target, channels := dst, c.Channels(h.C)
	if channels == 1 {
		target, channels = &d.scratch[0], 3
	}
	target.Reset(h.H, h.W, channels, h.DType)
	if f.w < h.W || f.h < h.H {
		clear(target.Pix)
	}
	if err := webpPixels(target, data); err != nil {
		return err
	}
	if target != dst {
		return c.Convert(dst, target)
	}
	return nil
}

// Flags of the VP8X chunk (WebP container specification).
const (
	webpAnimated = 0x02
	webpEXIF     = 0x08
	webpAlpha    = 0x10
)

// webpStart is the offset of the first chunk: after RIFF, the size and WEBP.
const webpStart = 12

// webpFrame is the first frame of a WebP: its rectangle on the canvas and its chunks.
type webpFrame struct {
	x, y, w, h int
	lossless   bool
	bits       []byte // the body of the chunk VP8 or VP8L
}

func le24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// riffEnd is the end of the file by its own size field; bytes after it do not count.
func riffEnd(data []byte) (int, error) {
	if len(data) < webpStart+8 {
		return 0, fmt.Errorf("%w: inside the WebP header", pixel.ErrTruncated)
	}
	n := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	switch {
	case n < webpStart+8 || n > 1<<32-10:
		return 0, fmt.Errorf("%w: a WebP of %d bytes", pixel.ErrCorrupt, n)
	case n > int64(len(data)):
		return 0, fmt.Errorf("%w: %d of the WebP's %d bytes", pixel.ErrTruncated, len(data), n)
	}
	return int(n), nil
}

// riffChunk returns the chunk at data[i:] and the offset after it. Bodies are padded to even
// lengths.
func riffChunk(data []byte, i int) (kind string, body []byte, next int, err error) {
	if len(data)-i < 8 {
		return "", nil, 0, fmt.Errorf("%w: inside a WebP chunk", pixel.ErrTruncated)
	}
	n := int64(binary.LittleEndian.Uint32(data[i+4:]))
	if n > int64(len(data)-i-8) {
		return "", nil, 0, fmt.Errorf("%w: inside the WebP chunk %q", pixel.ErrTruncated, data[i:i+4])
	}
	end := i + 8 + int(n)
	return string(data[i : i+4]), data[i+8 : end], end + int(n&1), nil
}

// inspectWebP takes the size of the canvas, as Pillow does, also of an animation.
func inspectWebP(data []byte) (pixel.Header, error) {
	h := pixel.Header{C: 3, DType: formats.Uint8, Orientation: 1}
	if len(data) < webpStart+8+5 {
		return h, fmt.Errorf("%w: inside the WebP header", pixel.ErrTruncated)
	}
	body := data[webpStart+8:]
	switch kind := string(data[webpStart : webpStart+4]); kind {
	case "VP8 ", "VP8L":
		f, err := webpBitstream(kind, body)
		if err != nil {
			return h, err
		}
		h.H, h.W = f.h, f.w
		if f.lossless && body[4]&0x10 != 0 {
			h.C = 4
		}
	case "VP8X":
		if len(body) < 10 {
			return h, fmt.Errorf("%w: inside the WebP header", pixel.ErrTruncated)
		}
		if n := binary.LittleEndian.Uint32(data[webpStart+4:]); n != 10 {
			return h, fmt.Errorf("%w: a WebP header of %d bytes", pixel.ErrCorrupt, n)
		}
		h.W, h.H = le24(body[4:])+1, le24(body[7:])+1
		if body[0]&webpAlpha != 0 {
			h.C = 4
		}
		if body[0]&webpEXIF != 0 {
			h.Orientation = webpOrientation(data)
		}
	default:
		return h, fmt.Errorf("%w: a WebP that begins with the chunk %q", pixel.ErrCorrupt, kind)
	}
	return h, nil
}

// webpBitstream reads the size from the beginning of the chunk VP8 or VP8L (RFC 6386, 9.1;
// WebP lossless bitstream specification, 3).
func webpBitstream(kind string, body []byte) (f webpFrame, err error) {
	f.bits, f.lossless = body, kind == "VP8L"
	switch {
	case f.lossless && len(body) >= 5:
		bits := int(binary.LittleEndian.Uint32(body[1:]))
		f.w, f.h = bits&0x3FFF+1, bits>>14&0x3FFF+1
		if body[0] == 0x2F && bits>>29 == 0 {
			return f, nil
		}
	case !f.lossless && len(body) >= 10:
		f.w, f.h = int(binary.LittleEndian.Uint16(body[6:])&0x3FFF), int(binary.LittleEndian.Uint16(body[8:])&0x3FFF)
		if body[0]&1 == 0 && string(body[3:6]) == "\x9d\x01\x2a" {
			return f, nil
		}
	default:
		return f, fmt.Errorf("%w: inside the WebP chunk %q", pixel.ErrTruncated, kind)
	}
	return f, fmt.Errorf("%w: the WebP chunk %q does not begin an image", pixel.ErrCorrupt, kind)
}

// webpOrientation is the orientation in the first EXIF chunk, 1 if there is none.
func webpOrientation(data []byte) int {
	for i := webpStart; ; {
		kind, body, next, err := riffChunk(data, i)
		if err != nil {
			return 1
		}
		if kind == "EXIF" {
			if len(body) >= 6 && string(body[:6]) == "Exif\x00\x00" {
				body = body[6:]
			}
			return exif.Orientation(body)
		}
		i = next
	}
}

// firstWebPFrame finds the first frame that has an image.
func firstWebPFrame(data []byte) (webpFrame, error) {
	end, err := riffEnd(data)
	if err != nil {
		return webpFrame{}, err
	}
	data = data[:end]
	animated := string(data[webpStart:webpStart+4]) == "VP8X" && data[webpStart+8]&webpAnimated != 0
	if !animated {
		f, err := webpFrameChunks(data[webpStart:])
		if err == nil && f.bits == nil {
			err = fmt.Errorf("%w: a WebP without an image", pixel.ErrCorrupt)
		}
		return f, err
	}
	for i := webpStart; i < end; {
		kind, body, next, err := riffChunk(data, i)
		switch {
		case err != nil:
			return webpFrame{}, err
		case kind == "ANMF" && len(body) < 16:
			return webpFrame{}, fmt.Errorf("%w: inside the WebP chunk %q", pixel.ErrTruncated, kind)
		case kind == "ANMF":
			if f, err := webpFrameChunks(body[16:]); err != nil || f.bits != nil {
				f.x, f.y = 2*le24(body), 2*le24(body[3:])
				return f, err
			}
		}
		i = next
	}
	return webpFrame{}, fmt.Errorf("%w: an animated WebP without an image", pixel.ErrCorrupt)
}

// webpFrameChunks reads the chunks of one frame: VP8L, or VP8 with an optional ALPH before it. bits
// is nil if there is none.
func webpFrameChunks(data []byte) (f webpFrame, err error) {
	alpha := false
	for i := 0; i < len(data); {
		kind, body, next, err := riffChunk(data, i)
		switch {
		case err != nil:
			return webpFrame{}, err
		case kind == "ALPH":
			alpha = true
		case kind == "VP8 " || kind == "VP8L":
			f, err := webpBitstream(kind, body)
			if err == nil && f.lossless && alpha {
				err = fmt.Errorf("%w: a lossless WebP with a separate alpha chunk", pixel.ErrCorrupt)
			}
			return f, err
		}
		i = next
	}
	return webpFrame{}, nil
}

// check returns an error if the frame is not on the canvas, or claims far more pixels than its bytes
// can hold: a lossy macroblock of 16x16 pixels takes at least 2 bits.
func (f webpFrame) check(h pixel.Header) error {
	switch {
	case f.w <= 0 || f.h <= 0 || f.x+f.w > h.W || f.y+f.h > h.H:
		return fmt.Errorf("%w: a WebP frame of %dx%d at %d, %d of %dx%d", pixel.ErrCorrupt, f.w, f.h, f.x, f.y, h.W, h.H)
	case !f.lossless && ((f.w+15)/16)*((f.h+15)/16) > 4*len(f.bits):
		return fmt.Errorf("%w: %d bytes cannot hold a WebP of %dx%d pixels", pixel.ErrTruncated, len(f.bits), f.w, f.h)
	}
	return nil
}
