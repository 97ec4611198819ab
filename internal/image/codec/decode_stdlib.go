package codec

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/goimage"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeGeneric decodes PNG and GIF with Go decoders. reserveMore is as in decodePNG.
func decodeGeneric(r *goimage.StoppableReader, data []byte, enc formats.Encoding, h pixel.Header, reserveMore func(int64) error) (img image.Image, warning string, err error) {
	switch enc {
	case formats.PNG:
		img, warning, err = decodePNG(r, data, h, reserveMore)
	case formats.GIF:
		img, err = decodeGIF(data)
	default:
		return nil, "", fmt.Errorf("%w: encoding %q", pixel.ErrUnsupported, enc)
	}
	var notPNG png.UnsupportedError
	switch {
	case err == nil:
		return img, warning, nil
	case errors.Is(err, pixel.ErrCorrupt), errors.Is(err, pixel.ErrTruncated), errors.Is(err, pixel.ErrUnsupported), errors.Is(err, pixel.ErrTooLarge):
		return nil, "", err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, "", fmt.Errorf("%w: %w", pixel.ErrTruncated, err)
	case errors.As(err, &notPNG):
		return nil, "", fmt.Errorf("%w: %w", pixel.ErrUnsupported, err)
	}
	return nil, "", fmt.Errorf("%w: %w", pixel.ErrCorrupt, err)
}

// decodeGIF returns the first frame on the GIF's canvas.
func decodeGIF(data []byte) (image.Image, error) {
	f, err := firstFrame(data)
	if err != nil {
		return nil, err
	}
	return f.decode()
}
