package codec

import (
	"compress/lzw"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// gifFrame is the first frame of a GIF, as Pillow finds it: bytes between blocks are skipped, and
// the canvas grows if the frame reaches beyond it.
type gifFrame struct {
	canvas, at  image.Rectangle
	palette     []byte // RGB triples; nil: indices are grey values
	transparent byte   // the index outside the frame
	interlaced  bool
	bits        byte   // of the codes
	data        []byte // sub-blocks
}

// gifReader reads a GIF from its start. truncated is set when the data end too early.
type gifReader struct {
	data      []byte
	truncated bool
}

// take returns the next n bytes, fewer at the end of the data.
func (s *gifReader) take(n int) []byte {
	if n > len(s.data) {
		n, s.truncated = len(s.data), true
	}
	b := s.data[:n]
	s.data = s.data[n:]
	return b
}

// block returns the next sub-block, empty after the last.
func (s *gifReader) block() []byte {
	n := s.take(1)
	if len(n) == 0 {
		return nil
	}
	return s.take(int(n[0]))
}

// firstFrame finds the first frame.
func firstFrame(data []byte) (f gifFrame, err error) {
	s := gifReader{data: data}
	h := s.take(13)
	if s.truncated {
		return f, fmt.Errorf("%w: inside the GIF header", pixel.ErrTruncated)
	}
	f.canvas.Max = image.Pt(int(binary.LittleEndian.Uint16(h[6:])), int(binary.LittleEndian.Uint16(h[8:])))
	f.readPalette(&s, h[10])
	for len(s.data) > 0 {
		switch s.take(1)[0] {
		case ';':
			return f, fmt.Errorf("%w: a GIF without image", pixel.ErrCorrupt)
		case '!':
			if err := f.extension(&s); err != nil {
				return f, err
			}
		case ',':
			return f, f.image(&s)
		}
	}
	return f, fmt.Errorf("%w: before the GIF's image", pixel.ErrTruncated)
}

// readPalette reads the palette that flags announce. If it is the grey ramp, the image is grey.
func (f *gifFrame) readPalette(s *gifReader, flags byte) {
	if flags&128 == 0 {
		return
	}
	f.palette = s.take(3 << (flags&7 + 1))
	for i, v := range f.palette {
		if int(v) != i/3 {
			return
		}
	}
	f.palette = nil
}

// extension reads an extension block, of which only the transparent index is used.
func (f *gifFrame) extension(s *gifReader) error {
	kind := s.take(1)
	block := s.block()
	if len(kind) == 1 && kind[0] == 0xF9 && len(block) > 0 {
		if len(block) < 3 || block[0]&1 != 0 && len(block) < 4 {
			return fmt.Errorf("%w: a GIF control block of %d bytes", pixel.ErrCorrupt, len(block))
		}
		if block[0]&1 != 0 {
			f.transparent = block[3]
		}
	}
	if len(kind) == 1 && kind[0] == 0xFE && len(block) == 0 {
		return nil
	}
	for len(s.block()) > 0 {
	}
	return nil
}

// image reads the image descriptor; the pixels follow it.
func (f *gifFrame) image(s *gifReader) error {
	d := s.take(9)
	if len(d) < 9 {
		return fmt.Errorf("%w: inside the GIF's image", pixel.ErrTruncated)
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint16(d[i:])) }
	f.at = image.Rect(at(0), at(2), at(0)+at(4), at(2)+at(6))
	f.canvas.Max = image.Pt(max(f.canvas.Max.X, f.at.Max.X), max(f.canvas.Max.Y, f.at.Max.Y))
	f.interlaced = d[8]&64 != 0
	f.readPalette(s, d[8])
	bits := s.take(1)
	if len(bits) == 0 {
		return fmt.Errorf("%w: inside the GIF's image", pixel.ErrTruncated)
	}
	if f.at.Empty() {
		return fmt.Errorf("%w: a GIF image without pixels", pixel.ErrCorrupt)
	}
	f.bits, f.data = bits[0], s.data
	return nil
}

// decodeGIF decodes the first frame on the GIF's canvas to dst.
func (d *Decoder) decodeGIF(dst *pixel.Image, data []byte, o DecodeOptions) error {
	f, err := firstFrame(data)
	if err != nil {
		return err
	}
	if err := f.decode(d.indices(dst, o)); err != nil {
		return err
	}
	table := f.table()
	d.colors(dst, &table, o)
	return nil
}

// decode decodes the indices of the canvas to m.
func (f *gifFrame) decode(m *pixel.Image) error {
	if f.bits < 2 || f.bits > 8 {
		return fmt.Errorf("%w: GIF codes of %d bits", pixel.ErrCorrupt, f.bits)
	}
	// A code takes at least 3 bits and stands for at most 4096 pixels: do not allocate for an
	// image that claims far more.
	if n := f.at.Dx() * f.at.Dy(); n/4096*3/8 > len(f.data) {
		return fmt.Errorf("%w: %d bytes cannot hold %d pixels", pixel.ErrTruncated, len(f.data), n)
	}
	pix := make([]byte, f.at.Dx()*f.at.Dy())
	r := lzw.NewReader(&gifBlocks{gifReader{data: f.data}, nil}, lzw.LSB, int(f.bits))
	defer r.Close()
	if _, err := io.ReadFull(r, pix); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: inside the GIF's pixels", pixel.ErrTruncated)
	} else if err != nil {
		return fmt.Errorf("%w: GIF: %w", pixel.ErrCorrupt, err)
	}
	m.Reset(f.canvas.Dy(), f.canvas.Dx(), 1, formats.Uint8)
	_ = m.Fill([]float64{float64(f.transparent)}) // cannot fail: it has its size
	for i, y := range f.rows() {
		copy(m.Pix[(f.at.Min.Y+y)*m.W+f.at.Min.X:], pix[i*f.at.Dx():][:f.at.Dx()])
	}
	return nil
}

// rows are the positions of the frame's rows in the order of the file.
func (f *gifFrame) rows() []int {
	rows := make([]int, 0, f.at.Dy())
	passes := [][2]int{{0, 1}}
	if f.interlaced {
		passes = [][2]int{{0, 8}, {4, 8}, {2, 4}, {1, 2}}
	}
	for _, p := range passes {
		for y := p[0]; y < f.at.Dy(); y += p[1] {
			rows = append(rows, y)
		}
	}
	return rows
}

// table returns the palette. Colours that it lacks are black.
func (f *gifFrame) table() (t [256][3]byte) {
	for i := range t {
		if f.palette == nil {
			t[i] = [3]byte{byte(i), byte(i), byte(i)}
		} else {
			copy(t[i][:], f.palette[min(3*i, len(f.palette)/3*3):len(f.palette)/3*3])
		}
	}
	return t
}

// gifBlocks reads the contents of sub-blocks.
type gifBlocks struct {
	scan gifReader
	rest []byte
}

// ReadByte lets lzw read without a buffer of its own.
func (b *gifBlocks) ReadByte() (byte, error) {
	if len(b.rest) == 0 {
		// Pillow too decodes whole blocks only.
		if b.rest = b.scan.block(); len(b.rest) == 0 || b.scan.truncated {
			b.rest = nil
			return 0, io.EOF
		}
	}
	c := b.rest[0]
	b.rest = b.rest[1:]
	return c, nil
}

// Read implements io.Reader.
func (b *gifBlocks) Read(p []byte) (int, error) {
	c, err := b.ReadByte()
	if err != nil || len(p) == 0 {
		return 0, err
	}
	p[0] = c
	return 1, nil
}
