//go:build !cgo

package preprocess

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/dsconv/dsconv/formats"
)

// DecoderName is the JPEG decoder of this build: "libjpeg-turbo", whose pixels equal Pillow's,
// or "image/jpeg", whose pixels differ slightly.
const DecoderName = "image/jpeg"

// HasLibjpegTurbo reports whether this build has libjpeg-turbo, and so can decode JPEGs fast and
// scaled (DecodeOptions.Fast), tile them, and write them with options besides their quality.
const HasLibjpegTurbo = false

// jpegDecoder decodes with the standard library.
type jpegDecoder struct {
	img, full Image
	stop      *Stop
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not.
func SlowJPEG() string { return "this build lacks libjpeg-turbo (cgo)" }

// decode decodes all of data and crops it to the region that r asks for.
func (d *jpegDecoder) decode(dst *Image, data []byte, r jpegRequest) (warning string, err error) {
	if err := checkScans(countScans(data), r.h, r.w); err != nil {
		return "", err
	}
	img, err := jpeg.Decode(&stopReader{*bytes.NewReader(data), d.stop})
	if err != nil {
		if stopped := d.stop.err(); stopped != nil {
			return "", stopped
		}
		if _, cut := checkJPEG(data); errors.Is(cut, ErrTruncated) {
			return "", cut // it says more than the decoder
		}
		return "", fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	channels := 3
	if _, gray := img.(*image.Gray); gray {
		channels = 1
	}
	if err := fromStdlib(&d.img, img, Header{H: r.h, W: r.w, C: channels, DType: formats.Uint8}); err != nil {
		return "", err
	}
	color := ColorRGB
	if r.channels == 1 {
		color = ColorGray
	}
	if r.region == (Rect{W: r.w, H: r.h}) {
		color.convert(dst, &d.img)
		return "", nil
	}
	color.convert(&d.full, &d.img)
	d.full.crop(dst, r.region)
	return "", nil
}

func (d *jpegDecoder) close() {}

// jpegEncoder encodes with the standard library.
type jpegEncoder struct{ stop *Stop }

func (e *jpegEncoder) encode(dst []byte, m *Image, o encodeOptions) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := e.stop.err(); err != nil {
		return dst, err
	}
	if err := jpeg.Encode(b, toStdlib(m), &jpeg.Options{Quality: o.quality}); err != nil {
		return dst, fmt.Errorf("encode JPEG: %w", err)
	}
	return b.Bytes(), nil
}

func (e *jpegEncoder) close() {}

// countScans counts the scans of a JPEG up to the first broken marker; 0 stands for few.
func countScans(data []byte) int {
	if bytes.Count(data, []byte{0xFF, markSOS}) <= scansOfAnySize {
		return 0
	}
	p, _ := findSegments(data) // an error is the decoder's to report
	return p.scans
}

// checkScans returns an error if so many scans are too many for a JPEG of w by h pixels.
func checkScans(scans, h, w int) error {
	if scans > scansOfAnySize && (scans > maxScans || scans*h*w > maxScanPixels) {
		return errScans
	}
	return nil
}
