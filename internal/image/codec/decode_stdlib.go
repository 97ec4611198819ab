package codec

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"

	"golang.org/x/image/tiff"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/internal/image/goimage"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// decodeGeneric decodes PNG, GIF and TIFF with Go decoders. reserveMore is as in decodePNG.
func decodeGeneric(r *goimage.StoppableReader, data []byte, enc formats.Encoding, h pixel.Header, reserveMore func(int64) error) (img image.Image, warning string, err error) {
	switch enc {
	case formats.PNG:
		img, warning, err = decodePNG(r, data, h, reserveMore)
	case formats.GIF:
		img, err = decodeGIF(data)
	case formats.TIFF:
		img, err = decodeTIFF(r, data)
	default:
		return nil, "", fmt.Errorf("%w: encoding %q", pixel.ErrUnsupported, enc)
	}
	var notPNG png.UnsupportedError
	var notTIFF tiff.UnsupportedError
	switch {
	case err == nil:
		return img, warning, nil
	case errors.Is(err, pixel.ErrCorrupt), errors.Is(err, pixel.ErrTruncated), errors.Is(err, pixel.ErrUnsupported), errors.Is(err, pixel.ErrTooLarge):
		return nil, "", err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, "", fmt.Errorf("%w: %w", pixel.ErrTruncated, err)
	case errors.As(err, &notPNG), errors.As(err, &notTIFF):
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

// decodeTIFF decodes a TIFF. golang.org/x/image inverts fax-compressed images in which 0 is black;
// decodeTIFF inverts them back.
func decodeTIFF(r io.Reader, data []byte) (image.Image, error) {
	if err := checkTIFF(data); err != nil {
		return nil, err
	}
	if err := checkTIFFBlocks(data); err != nil {
		return nil, err
	}
	img, err := tiff.Decode(r)
	if err != nil {
		return nil, err
	}
	dir, err := exif.FirstIFD(data)
	if err != nil {
		return nil, err
	}
	gray, ok := img.(*image.Gray)
	if fax := dir.Value(tagCompression, tiffUncompressed); ok && (fax == 3 || fax == 4) && dir.Value(exif.TagPhotometric, -1) == exif.Gray {
		for i := range gray.Pix {
			gray.Pix[i] ^= 255
		}
	}
	return img, nil
}
