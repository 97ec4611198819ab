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

// DecoderName says which JPEG decoder is built in: "libjpeg-turbo", whose pixels are
// Pillow's, or "image/jpeg", whose pixels are a little off.
const DecoderName = "image/jpeg"

// HasLibjpegTurbo reports whether this build has libjpeg-turbo, and so can decode JPEGs fast and
// scaled (DecodeOptions.Fast), tile them, and write them with options besides their quality.
const HasLibjpegTurbo = false

// built reports which of e's options need another build.
func (e Encode) checkBuild() error {
	if e.Optimize || e.Progressive || e.Interval > 0 || e.Sampling != "" && e.Sampling != Sampling420 {
		return fmt.Errorf("--encode %s needs libjpeg-turbo, which this build of dsconv lacks: build it with CGO_ENABLED=1, "+
			"or choose --encode keep, jpeg:QUALITY, png or raw", e)
	}
	return nil
}

// jpegDecoder decodes with the standard library.
type jpegDecoder struct {
	img, full Image
	stop      *Stop
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not.
func SlowJPEG() string { return "this build lacks libjpeg-turbo (cgo)" }

func (d *jpegDecoder) decode(dst *Image, data []byte, r jpegRequest) (warning string, err error) {
	if err := checkScans(countScans(data), r.h, r.w); err != nil {
		return "", err
	}
	img, err := jpeg.Decode(&stopReader{*bytes.NewReader(data), d.stop})
	if err != nil {
		if stopped := d.stop.err(); stopped != nil {
			return "", stopped
		}
		if _, cut := CheckStructure(data, formats.JPEG); errors.Is(cut, ErrTruncated) {
			return "", cut // says more than the decoder
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

func (e *jpegEncoder) encode(dst []byte, m *Image, o Encode) ([]byte, error) {
	if err := o.checkBuild(); err != nil {
		return dst, err
	}
	b := bytes.NewBuffer(dst)
	if err := e.stop.err(); err != nil {
		return dst, err
	}
	if err := jpeg.Encode(b, toStdlib(m), &jpeg.Options{Quality: o.Quality}); err != nil {
		return dst, fmt.Errorf("encode JPEG: %w", err)
	}
	return b.Bytes(), nil
}

func (e *jpegEncoder) close() {}

// scansOf counts the scans of a JPEG as far as its markers lead; 0 stands for few.
func countScans(data []byte) int {
	if bytes.Count(data, []byte{0xFF, markSOS}) <= scansOfAnySize {
		return 0
	}
	p, _ := findSegments(data) // an error is the decoder's to report
	return p.scans
}

// checkScans refuses the number of scans, so far, of a JPEG of w by h pixels.
func checkScans(scans, h, w int) error {
	if scans > scansOfAnySize && (scans > maxScans || scans*h*w > maxScanPixels) {
		return errScans
	}
	return nil
}
