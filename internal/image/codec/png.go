package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"

	"github.com/dsconv/dsconv/internal/image/budget"
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

// decodePNG decodes to Pillow's pixels: if the stream ends properly but lacks rows, they are zeros
// and there is a warning. reserveMore reserves n bytes in addition to the pixels converted from
// img.
func decodePNG(r io.Reader, data []byte, h pixel.Header, reserveMore func(n int64) error) (img image.Image, warning string, err error) {
	p, err := readPNG(data)
	if err != nil {
		return nil, "", err
	}
	_, raw := filteredSize(p.header, h)
	decoded := budget.ImageBytes(h.H, h.W, p.pixelSize(h))
	if p.header[12] != 0 {
		decoded *= 2 // each pass is an image
	}
	if err := reserveMore(decoded); err != nil {
		return nil, "", err
	}
	if img, err = png.Decode(r); err == nil {
		return img, "", nil
	} else if pixel.EndsRun(err) {
		return nil, "", err
	}
	if err := reserveMore(2*decoded + int64(raw)); err != nil {
		return nil, "", err
	}
	rows, complete, err := p.inflate(h)
	if err != nil {
		return nil, "", err
	}
	if img, err = png.Decode(p.rewritten(rows)); err != nil {
		return nil, "", err
	}
	warning = "the PNG's chunks are damaged"
	if !complete {
		warning = "the PNG has fewer rows than its header says"
	}
	return img, warning, nil
}

// inflate returns the filtered rows. If the stream ends properly before the last row, the rest are
// zeros.
func (p *pngChunks) inflate(h pixel.Header) (rows []byte, complete bool, err error) {
	row, all := filteredSize(p.header, h)
	z, err := zlib.NewReader(bytes.NewReader(p.pixels))
	n := 0
	rows = make([]byte, all)
	for k := 0; err == nil && n < all; n += k {
		k, err = z.Read(rows[n:])
	}
	cut := errors.Is(err, io.ErrUnexpectedEOF)
	if n == all && err == nil {
		_, err = io.ReadFull(z, make([]byte, 1)) // the checksum follows
	}
	switch {
	case n == all && (err == nil || cut || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return rows, true, nil // data after the last row may be truncated or too long
	case cut || errors.Is(err, io.EOF) && (n == 0 || row == 0 || n%row != 0):
		return nil, false, fmt.Errorf("%w: inside the PNG's pixels", pixel.ErrTruncated)
	case errors.Is(err, io.EOF):
		return rows, false, nil
	}
	return nil, false, fmt.Errorf("%w: PNG: %w", pixel.ErrCorrupt, err)
}

// filteredSize is the size of a filtered row, 0 if the image is interlaced, and that of all rows.
func filteredSize(header []byte, h pixel.Header) (row, all int) {
	bits := int(header[8])
	switch header[9] {
	case pngRGB:
		bits *= 3
	case pngGrayAlpha:
		bits *= 2
	case pngRGBA:
		bits *= 4
	}
	size := func(w, h int) int {
		if w == 0 {
			return 0
		}
		return h * (1 + (w*bits+7)/8)
	}
	if header[12] == 0 {
		return size(h.W, 1), size(h.W, h.H)
	}
	for _, a := range [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		all += size((h.W-a[0]+a[2]-1)/a[2], (h.H-a[1]+a[3]-1)/a[3])
	}
	return 0, all
}

// pixelSize is the bytes of a pixel in an image of the standard library.
func (p *pngChunks) pixelSize(h pixel.Header) int {
	switch {
	case h.Palette:
		return 1
	case h.C == 1 && !p.transparent:
		return h.DType.Size()
	}
	return 4 * h.DType.Size()
}

// rewritten is a valid PNG of the same pixels. Colours that the palette lacks are black.
func (p *pngChunks) rewritten(rows []byte) io.Reader {
	header := bytes.Clone(p.header[:13])
	header[10], header[12] = 0, min(header[12], 1)
	b := AppendChunk([]byte(pngMagic), "IHDR", header)
	if header[9] == pngPalette {
		palette := make([]byte, 3<<header[8])
		copy(palette, p.palette[:len(p.palette)/3*3])
		b = AppendChunk(b, "PLTE", palette)
	}
	end := AppendChunk(AppendChunk(nil, "IDAT", storedEnd(rows)), "IEND", nil)
	return io.MultiReader(bytes.NewReader(b), &storedChunks{rows: rows}, bytes.NewReader(end))
}
