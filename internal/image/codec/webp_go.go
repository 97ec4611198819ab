package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/webp"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// goWebPixels decodes f to its position on dst, a canvas of 3 or 4 channels, as libwebp does:
// golang.org/x/image decodes the planes, and upsample enlarges the colour planes as libwebp does.
func goWebPixels(dst *pixel.Image, f webpFrame) error {
	img, err := webp.Decode(bytes.NewReader(f.singleFrameFile()))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: inside the WebP's pixels: %w", pixel.ErrTruncated, err)
	case err != nil:
		return fmt.Errorf("%w: WebP: %w", pixel.ErrCorrupt, err)
	case img.Bounds() != image.Rect(0, 0, f.w, f.h):
		return fmt.Errorf("%w: a WebP of another size than its header says", pixel.ErrCorrupt)
	}
	switch m := img.(type) {
	case *image.NRGBA:
		for y := range f.h {
			row := m.Pix[y*m.Stride:]
			out := f.row(dst, y)
			for x := range f.w {
				copy(out[x*dst.C:(x+1)*dst.C], row[4*x:])
			}
		}
	case *image.YCbCr:
		f.upsample(dst, m)
	case *image.NYCbCrA:
		f.upsample(dst, &m.YCbCr)
		if dst.C == 4 {
			for y := range f.h {
				out := f.row(dst, y)
				for x, a := range m.A[y*m.AStride:][:f.w] {
					out[4*x+3] = a
				}
			}
		}
	}
	return nil
}

// row returns the canvas from the beginning of row y of the frame.
func (f webpFrame) row(dst *pixel.Image, y int) []byte {
	return dst.Pix[(f.y+y)*dst.Stride()+f.x*dst.C:]
}

// singleFrameFile is a WebP of this frame alone.
func (f webpFrame) singleFrameFile() []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"), make([]byte, 0, len(f.bits)+len(f.alpha)+64)...)
	if f.alpha != nil {
		var size [8]byte
		binary.LittleEndian.PutUint32(size[:], uint32(f.w-1))
		binary.LittleEndian.PutUint32(size[3:], uint32(f.h-1))
		b = appendRIFF(b, "VP8X", append([]byte{webpAlpha, 0, 0, 0}, size[:6]...))
		b = appendRIFF(b, "ALPH", f.alpha)
	}
	kind := "VP8 "
	if f.lossless {
		kind = "VP8L"
	}
	b = appendRIFF(b, kind, f.bits)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

func appendRIFF(b []byte, kind string, body []byte) []byte {
	b = append(b, kind...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	if len(body)&1 == 1 {
		b = append(b, 0)
	}
	return b
}

// upsample converts planes to colours with libwebp's "fancy upsampling" (its dsp/upsampling.c):
// a pixel's chroma is (9, 3, 3, 1)/16 of the four samples around it.
func (f webpFrame) upsample(dst *pixel.Image, m *image.YCbCr) {
	last := (f.h - 1) / 2
	for y := range f.h {
		near, far := y/2, y/2-1 // rows of chroma
		if y&1 == 1 {
			far = min(near+1, last)
		}
		far = max(far, 0)
		f.upsampleRow(f.row(dst, y), dst.C, m, y, near, far)
	}
}

func (f webpFrame) upsampleRow(out []byte, channels int, m *image.YCbCr, y, near, far int) {
	cb := [2][]byte{m.Cb[near*m.CStride:], m.Cb[far*m.CStride:]}
	cr := [2][]byte{m.Cr[near*m.CStride:], m.Cr[far*m.CStride:]}
	last := (f.w - 1) / 2
	for x := range f.w {
		i := x / 2
		j := i - 1 // the sample on the other side
		if x&1 == 1 {
			j = i + 1
		}
		var u, v int
		if j < 0 || j > last { // the first and the last pixel of an even width: from two samples
			u, v = (3*int(cb[0][i])+int(cb[1][i])+2)>>2, (3*int(cr[0][i])+int(cr[1][i])+2)>>2
		} else {
			u, v = diagonal(cb, i, j), diagonal(cr, i, j)
		}
		p := out[x*channels : (x+1)*channels]
		p[0], p[1], p[2] = webpRGB(int(m.Y[y*m.YStride+x]), u, v)
		if channels == 4 {
			p[3] = 255
		}
	}
}

// diagonal weighs the samples i and j of the near and the far row, rounded in libwebp's steps.
func diagonal(rows [2][]byte, i, j int) int {
	a, b, c, d := int(rows[0][i]), int(rows[0][j]), int(rows[1][i]), int(rows[1][j])
	return ((a+b+c+d+8+2*(b+c))>>3 + a) >> 1
}

// webpRGB is BT.601 of limited range in libwebp's fixed point (its dsp/yuv.h).
func webpRGB(y, u, v int) (r, g, b byte) {
	clip := func(v int) byte { return byte(min(max(v>>6, 0), 255)) }
	y = y * 19077 >> 8
	return clip(y + v*26149>>8 - 14234),
		clip(y - u*6419>>8 - v*13320>>8 + 8708),
		clip(y + u*33050>>8 - 17685)
}
