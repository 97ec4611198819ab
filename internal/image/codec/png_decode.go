package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// pngDecoder has the memory for rows of PNGs.
type pngDecoder struct {
	in   bytes.Reader
	z    io.ReadCloser
	rows [2][]byte // the row and the one above, filters undone
}

// What is irregular about PNGs that Pillow reads.
const (
	damagedPNG = "the PNG's chunks are damaged"
	shortPNG   = "the PNG has fewer rows than its header says"
)

// decodePNG decodes a PNG to dst, to Pillow's pixels: if the stream ends properly but lacks rows, they are zeros and there
// is a warning.
func (d *Decoder) decodePNG(dst *pixel.Image, data []byte, h pixel.Header, o DecodeOptions) error {
	p, err := readPNG(data)
	if err != nil {
		return err
	}
	target := dst
	switch {
	case h.Palette:
		h.C, target = 1, d.indices(dst, o)
	case !o.keeps(h):
		target = &d.scratch[0]
	}
	target.Reset(h.H, h.W, h.C, h.DType)
	if d.warning, err = d.png.decode(target, &p, d.stop); err != nil {
		return err
	}
	if d.warning == "" && !p.isIntact(data) {
		d.warning = damagedPNG
	}
	if h.Palette {
		table := p.table()
		d.colors(dst, &table, o)
		return nil
	}
	if target == dst {
		return nil
	}
	return d.convert(dst, target, o)
}

// table returns the palette. Colours that it lacks are black.
func (p *pngChunks) table() (t [256][3]byte) {
	for i := range min(len(p.palette)/3, len(t)) {
		copy(t[i][:], p.palette[3*i:])
	}
	return t
}

// pngPass is which pixels of an image a pass of an interlaced PNG has: from (x, y) on, at distances of right and down.
type pngPass struct{ x, y, right, down int }

var adam7 = []pngPass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// decode decodes the pixels to dst, which has its size.
func (d *pngDecoder) decode(dst *pixel.Image, p *pngChunks, stop *pixel.Stop) (warning string, err error) {
	d.in.Reset(p.pixels)
	defer d.in.Reset(nil)
	if d.z == nil {
		d.z, err = zlib.NewReader(&d.in)
	} else {
		err = d.z.(zlib.Resetter).Reset(&d.in, nil)
	}
	passes := adam7
	if p.header[12] == 0 {
		passes = []pngPass{{0, 0, 1, 1}}
	}
	for _, pass := range passes {
		w, depth := (dst.W-pass.x+pass.right-1)/pass.right, int(p.header[8])*dst.C
		d.rows[0], d.rows[1] = buffer.Grow(d.rows[0], 1+(w*depth+7)/8), buffer.Grow(d.rows[1], 1+(w*depth+7)/8)
		clear(d.rows[1])
		for y := pass.y; y < dst.H && w > 0 && err == nil; y += pass.down {
			if err := stop.Err(); err != nil {
				return "", err
			}
			err = d.readRow(max(depth/8, 1))
			if errors.Is(err, io.EOF) && y > 0 && len(passes) == 1 {
				clear(dst.Pix[y*dst.Stride():])
				return shortPNG, nil
			}
			if err == nil {
				p.unpack(dst, d.rows[0][1:], pass, y, w)
			}
			d.rows[0], d.rows[1] = d.rows[1], d.rows[0]
		}
	}
	if err == nil {
		var n int
		switch n, err = d.z.Read(d.rows[0][:1]); { // this read checks the checksum
		case n == 0 && errors.Is(err, io.EOF):
			return "", nil
		case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return damagedPNG, nil // data after the last row may be truncated or too long
		}
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("%w: inside the PNG's pixels", pixel.ErrTruncated)
	case errors.Is(err, pixel.ErrCorrupt):
		return "", err
	}
	return "", fmt.Errorf("%w: PNG: %w", pixel.ErrCorrupt, err)
}

// readRow reads a row, after its filter, and undoes that. size is a pixel's in bytes.
func (d *pngDecoder) readRow(size int) error {
	row := d.rows[0]
	if _, err := io.ReadFull(d.z, row); err != nil {
		return err
	}
	if !unfilter(row[0], row[1:], d.rows[1][1:], size) {
		return fmt.Errorf("%w: PNG filter %d", pixel.ErrCorrupt, row[0])
	}
	return nil
}

// unpack writes a row of w pixels, row y of the image, to dst: 16 bits little-endian, grey of fewer than 8 bits widened, and
// indices as they are.
func (p *pngChunks) unpack(dst *pixel.Image, row []byte, pass pngPass, y, w int) {
	out, size, bits := dst.Pix[y*dst.Stride():][:dst.Stride()], dst.PixelSize(), int(p.header[8])
	if bits < 8 {
		scale := byte(1)
		if p.header[9] == pngGray {
			scale = 255 / (1<<bits - 1)
		}
		for x := range w {
			out[pass.x+x*pass.right] = row[x*bits/8] >> (8 - bits - x*bits%8) & (1<<bits - 1) * scale
		}
		return
	}
	if pass.right == 1 {
		copy(out, row)
	} else {
		for x := range w {
			copy(out[(pass.x+x*pass.right)*size:][:size], row[x*size:])
		}
	}
	if dst.DType == formats.Uint16 {
		for i := pass.x * size; i < len(out); i += pass.right * size {
			for k := i; k < i+size; k += 2 {
				out[k], out[k+1] = out[k+1], out[k]
			}
		}
	}
}

// unfilter undoes a row's filter in place. It returns false for an unknown filter.
func unfilter(filter byte, row, above []byte, size int) bool {
	above = above[:len(row)]
	switch filter {
	case pngNone:
	case pngSub:
		for i := size; i < len(row); i++ {
			row[i] += row[i-size]
		}
	case pngUp:
		add(row, above)
	case pngAverage:
		for i := range min(size, len(row)) {
			row[i] += above[i] / 2
		}
		for i := size; i < len(row); i++ {
			row[i] += byte((int(row[i-size]) + int(above[i])) / 2)
		}
	case pngPaeth:
		for i := range min(size, len(row)) {
			unfilterPaeth(row[i:], above[i:], size)
		}
	default:
		return false
	}
	return true
}

// unfilterPaeth undoes the Paeth filter of every size-th byte.
func unfilterPaeth(row, above []byte, size int) {
	a, c := 0, 0 // left, above left
	for i := 0; i < len(row); i += size {
		b := int(above[i])
		row[i] += paeth(a, b, c)
		a, c = int(row[i]), b
	}
}

// add adds b to each of a's bytes.
func add(a, b []byte) {
	le, i := binary.LittleEndian, 0
	for ; i+8 <= len(a); i += 8 {
		x, y := le.Uint64(a[i:]), le.Uint64(b[i:])
		le.PutUint64(a[i:], ((x&^highBits)+(y&^highBits))^((x^y)&highBits))
	}
	for ; i < len(a); i++ {
		a[i] += b[i]
	}
}
