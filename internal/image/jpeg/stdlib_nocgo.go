//go:build !cgo

package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/dsconv/dsconv/internal/image/luma"
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
	full pixel.Image
	Stop *pixel.Stop
}

// stoppable is a reader that returns an error once it is stopped.
type stoppable struct {
	in   *bytes.Reader
	stop *pixel.Stop
}

func (r *stoppable) Read(p []byte) (int, error) {
	if err := r.stop.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// SlowJPEG says why the JPEG decoder is slower than it could be, "" if it is not.
func SlowJPEG() string { return "this build lacks libjpeg-turbo (cgo)" }

// Decode decodes all of data and crops it to the region that r asks for.
func (d *Decoder) Decode(dst *pixel.Image, data []byte, r Request) (warning string, err error) {
	if err := checkScans(countScans(data), r.H, r.W); err != nil {
		return "", err
	}
	img, err := jpeg.Decode(&stoppable{bytes.NewReader(data), d.Stop})
	if err != nil {
		if stopped := d.Stop.Err(); stopped != nil {
			return "", stopped
		}
		if _, cut := CheckStructure(data); errors.Is(cut, pixel.ErrTruncated) {
			return "", cut // it says more than the decoder
		}
		return "", fmt.Errorf("%w: %w", pixel.ErrCorrupt, err)
	}
	m, err := fromStdlib(img)
	if err != nil {
		return "", err
	}
	if m.H != r.H || m.W != r.W {
		return "", fmt.Errorf("%w: %dx%d pixels where the header says %dx%d", pixel.ErrCorrupt, m.W, m.H, r.W, r.H)
	}
	color := pixel.ColorRGB
	if r.Channels == 1 {
		color = pixel.ColorGray
	}
	if r.Region == (pixel.Rect{W: r.W, H: r.H}) {
		return "", color.Convert(dst, m)
	}
	if err := color.Convert(&d.full, m); err != nil {
		return "", err
	}
	return "", d.full.Crop(dst, r.Region)
}

func (d *Decoder) Close() {}

// fromStdlib copies the pixels of img. CMYK becomes RGB as in Pillow.
func fromStdlib(img image.Image) (*pixel.Image, error) {
	m, err := pixel.FromImage(img)
	if in, ok := img.(*image.CMYK); ok && err == nil {
		for y := range m.H {
			for x := range m.W {
				p, out := in.Pix[y*in.Stride+4*x:], m.Pix[y*m.Stride()+3*x:]
				out[0], out[1], out[2] = luma.FromCMYK(p[0], p[1], p[2], p[3])
			}
		}
	}
	return m, err
}

// toStdlib is m, of 1 or 3 channels, as an image that image/jpeg encodes fast.
func toStdlib(m *pixel.Image) image.Image {
	if m.C == 1 {
		return m.ToImage()
	}
	out := image.NewRGBA(image.Rect(0, 0, m.W, m.H))
	for i := range m.H * m.W {
		copy(out.Pix[4*i:], append(m.Pix[3*i:3*i+3:3*i+3], 255))
	}
	return out
}

// Encoder encodes with the standard library.
type Encoder struct{ Stop *pixel.Stop }

func (e *Encoder) Encode(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := e.Stop.Err(); err != nil {
		return dst, err
	}
	if err := jpeg.Encode(b, toStdlib(m), &jpeg.Options{Quality: o.Quality}); err != nil {
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
