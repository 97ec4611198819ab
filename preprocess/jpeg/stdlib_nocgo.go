//go:build !cgo

package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecoderName says which JPEG decoder is built in: "libjpeg-turbo", whose pixels are
// Pillow's, or "image/jpeg", whose pixels are a little off.
const DecoderName = "image/jpeg"

// CanTile says whether JPEGs can be written with options besides their quality: sampling,
// optimal tables, progressive, restart markers. What sets an Interval by default asks it.
const CanTile = false

// Decoder decodes with the standard library.
type Decoder struct {
	img, full pixel.Image
	Stop      *pixel.Stop
}

// Seeks says whether decode goes to the restart markers that it needs, CanScale whether it
// knows fast and scale.
const Seeks, CanScale = false, false

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not.
func SlowJPEG() string { return "this build lacks libjpeg-turbo (cgo)" }

func (d *Decoder) Decode(dst *pixel.Image, data []byte, r Request) (warning string, err error) {
	if err := checkScans(scansOf(data), r.H, r.W); err != nil {
		return "", err
	}
	img, err := jpeg.Decode(&pixel.StopReader{Reader: *bytes.NewReader(data), Stop: d.Stop})
	if err != nil {
		if stopped := d.Stop.Err(); stopped != nil {
			return "", stopped
		}
		if _, cut := CheckStructure(data); errors.Is(cut, pixel.ErrTruncated) {
			return "", cut // says more than the decoder
		}
		return "", fmt.Errorf("%w: %w", pixel.ErrCorrupt, err)
	}
	channels := 3
	if _, gray := img.(*image.Gray); gray {
		channels = 1
	}
	if err := pixel.FromStdlib(&d.img, img, pixel.Header{H: r.H, W: r.W, C: channels, DType: formats.Uint8}); err != nil {
		return "", err
	}
	color := pixel.ColorRGB
	if r.Channels == 1 {
		color = pixel.ColorGray
	}
	if r.Part == (pixel.Rect{W: r.W, H: r.H}) {
		color.Convert(dst, &d.img)
		return "", nil
	}
	color.Convert(&d.full, &d.img)
	d.full.Crop(dst, r.Part)
	return "", nil
}

func (d *Decoder) Close() {}

// Encoder encodes with the standard library.
type Encoder struct{ Stop *pixel.Stop }

func (e *Encoder) Encode(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := e.Stop.Err(); err != nil {
		return dst, err
	}
	if err := jpeg.Encode(b, pixel.ToStdlib(m), &jpeg.Options{Quality: o.Quality}); err != nil {
		return dst, fmt.Errorf("encode JPEG: %w", err)
	}
	return b.Bytes(), nil
}

func (e *Encoder) Close() {}

// scansOf counts the scans of a JPEG as far as its markers lead.
func scansOf(data []byte) (scans int) {
	if bytes.Count(data, []byte{0xFF, MarkSOS}) <= alwaysScans {
		return 0
	}
	for i := 2; ; {
		mark, next, ok := NextMarker(data, i)
		if !ok || mark == MarkEOI {
			return scans
		}
		if i = next; Standalone(mark) {
			continue
		}
		_, end, err := segment(data, next)
		if err != nil {
			return scans
		}
		if i = end; mark == MarkSOS {
			scans++
			i = new(Walk).Entropy(data, i)
		}
	}
}
