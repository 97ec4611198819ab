//go:build !cgo

package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/goimage"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecoderName is the JPEG decoder of this build: "libjpeg-turbo", whose pixels equal Pillow's,
// or "image/jpeg", whose pixels differ slightly.
const DecoderName = "image/jpeg"

// HasLibjpegTurbo reports whether this build has libjpeg-turbo, and so can decode JPEGs fast and
// scaled (DecodeOptions.Fast), tile them, and write them with options besides their quality.
const HasLibjpegTurbo = false

// Decoder decodes with the standard library.
type Decoder struct {
	img, full pixel.Image
	Stop      *pixel.Stop
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not.
func SlowJPEG() string { return "this build lacks libjpeg-turbo (cgo)" }

// Decode decodes all of data and crops it to the region that r asks for.
func (d *Decoder) Decode(dst *pixel.Image, data []byte, r Request) (warning string, err error) {
	if err := checkScans(countScans(data), r.H, r.W); err != nil {
		return "", err
	}
	img, err := jpeg.Decode(&goimage.StoppableReader{Reader: *bytes.NewReader(data), Stop: d.Stop})
	if err != nil {
		if stopped := d.Stop.Err(); stopped != nil {
			return "", stopped
		}
		if _, cut := CheckStructure(data); errors.Is(cut, pixel.ErrTruncated) {
			return "", cut // it says more than the decoder
		}
		return "", fmt.Errorf("%w: %w", pixel.ErrCorrupt, err)
	}
	channels := 3
	if _, gray := img.(*image.Gray); gray {
		channels = 1
	}
	if err := goimage.Read(&d.img, img, pixel.Header{H: r.H, W: r.W, C: channels, DType: formats.Uint8}); err != nil {
		return "", err
	}
	color := pixel.ColorRGB
	if r.Channels == 1 {
		color = pixel.ColorGray
	}
	if r.Region == (pixel.Rect{W: r.W, H: r.H}) {
		return "", color.Convert(dst, &d.img)
	}
	if err := color.Convert(&d.full, &d.img); err != nil {
		return "", err
	}
	return "", d.full.Crop(dst, r.Region)
}

func (d *Decoder) Close() {}

// Encoder encodes with the standard library.
type Encoder struct{ Stop *pixel.Stop }

func (e *Encoder) Encode(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := e.Stop.Err(); err != nil {
		return dst, err
	}
	if err := jpeg.Encode(b, goimage.New(m), &jpeg.Options{Quality: o.Quality}); err != nil {
		return dst, fmt.Errorf("encode JPEG: %w", err)
	}
	return b.Bytes(), nil
}

func (e *Encoder) Close() {}

// countScans counts the scans of a JPEG up to the first broken marker; 0 stands for few.
func countScans(data []byte) int {
	if bytes.Count(data, []byte{0xFF, MarkSOS}) <= scansOfAnySize {
		return 0
	}
	p, _ := findSegments(data) // an error is the decoder's to report
	return p.scans
}

// checkScans returns an error if so many scans are too many for a JPEG of w by h pixels.
func checkScans(scans, h, w int) error {
	if scans > scansOfAnySize && (scans > maxScans || scans*h*w > maxScanPixels) {
		return ErrScans
	}
	return nil
}
