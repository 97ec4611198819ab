//go:build !cgo

package preprocess

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"

	"github.com/dsconv/dsconv/formats"
)

// DecoderName says which JPEG decoder is built in: "libjpeg-turbo", whose pixels are
// Pillow's, or "image/jpeg", whose pixels are a little off.
const DecoderName = "image/jpeg"

// jpegDecoder decodes with the standard library.
type jpegDecoder struct{ img Image }

func (d *jpegDecoder) decode(dst *Image, data []byte, h Header, channels int) (warning string, err error) {
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		if cut := CheckStructure(data, formats.JPEG); errors.Is(cut, ErrTruncated) {
			return "", cut // says more than the decoder
		}
		return "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err := fromStdlib(&d.img, img, Header{H: h.H, W: h.W, C: h.C, DType: formats.Uint8}); err != nil {
		return "", err
	}
	color := ColorRGB
	if channels == 1 {
		color = ColorGray
	}
	color.convert(dst, &d.img)
	return "", nil
}

func (d *jpegDecoder) close() {}

// jpegEncoder encodes with the standard library.
type jpegEncoder struct{}

func (e *jpegEncoder) encode(dst []byte, m *Image, quality int) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := jpeg.Encode(b, toStdlib(m), &jpeg.Options{Quality: quality}); err != nil {
		return dst, fmt.Errorf("encode JPEG: %w", err)
	}
	return b.Bytes(), nil
}

func (e *jpegEncoder) close() {}
