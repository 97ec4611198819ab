package preprocess

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/dsconv/dsconv/formats"
)

// decodeGeneric decodes what is no JPEG with the Go decoders.
func decodeGeneric(r *bytes.Reader, enc formats.Encoding, h Header) (img image.Image, err error) {
	switch enc {
	case formats.PNG:
		img, err = png.Decode(r)
	case formats.GIF:
		img, err = decodeGIF(r, h)
	case formats.BMP:
		img, err = bmp.Decode(r)
	case formats.TIFF:
		img, err = tiff.Decode(r)
	default:
		return nil, fmt.Errorf("%w: encoding %q", ErrUnsupported, enc)
	}
	var notPNG png.UnsupportedError
	var notTIFF tiff.UnsupportedError
	switch {
	case err == nil:
		return img, nil
	case errors.Is(err, ErrCorrupt):
		return nil, err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %w", ErrTruncated, err)
	case errors.As(err, &notPNG), errors.As(err, &notTIFF), errors.Is(err, bmp.ErrUnsupported):
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// decodeGIF gives the first frame on the GIF's canvas, whose free part has the background
// colour.
func decodeGIF(r io.Reader, h Header) (image.Image, error) {
	frame, err := gif.Decode(r)
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, h.W, h.H)
	p, ok := frame.(*image.Paletted)
	if !ok || frame.Bounds() == canvas {
		return frame, nil
	}
	if !frame.Bounds().In(canvas) {
		return nil, fmt.Errorf("%w: a GIF frame outside its canvas", ErrCorrupt)
	}
	whole := image.NewPaletted(canvas, p.Palette)
	for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
		row := p.Pix[(y-p.Rect.Min.Y)*p.Stride:][:p.Rect.Dx()]
		copy(whole.Pix[whole.PixOffset(p.Rect.Min.X, y):], row)
	}
	return whole, nil
}
