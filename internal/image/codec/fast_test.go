package codec

import (
	"bytes"
	"math"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// psnr is the peak signal-to-noise ratio of two images of a shape, in dB.
func psnr(a, b *pixel.Image) float64 {
	sum := 0.0
	for i := range a.Pix {
		d := float64(a.Pix[i]) - float64(b.Pix[i])
		sum += d * d
	}
	return 10 * math.Log10(255*255*float64(len(a.Pix))/sum)
}

// smoothImage is an image without fine detail, which is lost when scaled down.
func smoothImage(w, h int) *pixel.Image {
	var m pixel.Image
	m.Reset(h, w, 3, formats.Uint8)
	for i := range m.Pix {
		x, y, c := float64(i/3%w), float64(i/3/w), float64(i%3)
		m.Pix[i] = byte(128 + 60*math.Sin(x/(23+c)) + 60*math.Cos(y/(19-c)))
	}
	return &m
}

// An image decoded fast and scaled has its pixels at the same position, close to exact ones.
func TestFastIsNear(t *testing.T) {
	e, d := NewEncoder(), NewDecoder()
	defer e.Close()
	defer d.Close()
	for _, size := range [][2]int{{640, 480}, {641, 475}, {333, 519}} {
		data, err := e.AppendJPEG(nil, smoothImage(size[0], size[1]), EncodeOptions{Encoding: formats.JPEG, Quality: 95})
		if err != nil {
			t.Fatal(err)
		}
		for _, region := range []pixel.Rect{{}, {X: 37, Y: 53, W: 251, H: 307}} {
			exact, fast := scaledCrop(t, d, data, region, Exact), scaledCrop(t, d, data, region, Fast)
			if p := psnr(exact, fast); p < 38 {
				t.Errorf("%v, region %+v: %.1f dB from the exact pixels", size, region, p)
			}
		}
	}
}

// scaledCrop decodes a region and scales it to 60x40 pixels.
func scaledCrop(t *testing.T, d *Decoder, data []byte, region pixel.Rect, mode Mode) *pixel.Image {
	t.Helper()
	o := DecodeOptions{Region: region, Mode: mode, MinH: 40, MinW: 60}
	var m, out pixel.Image
	if err := d.Decode(&m, &formats.Value{Data: data}, o); err != nil {
		t.Fatal(err)
	}
	if mode == Fast && jpeg.HasLibjpegTurbo && m.W > 200 {
		t.Errorf("%+v was decoded to %dx%d", region, m.W, m.H)
	}
	var r resample.Resampler
	if err := r.ResizeArea(&out, &m, d.Area(), 60, 40, pixel.Bilinear); err != nil {
		t.Fatal(err)
	}
	return &out
}

// The least size is that of the upright image: an image that lies on its side is reduced as far as
// the same one that stands.
func TestFastOfTurnedImages(t *testing.T) {
	if !jpeg.HasLibjpegTurbo {
		t.Skip("only libjpeg-turbo scales")
	}
	for orientation := 1; orientation <= 8; orientation++ {
		h, w := pixel.OrientedSize(640, 160, orientation) // upright it is 640 high
		e := NewEncoder()
		data, err := e.AppendJPEG(nil, smoothImage(w, h), EncodeOptions{Encoding: formats.JPEG, Quality: 95})
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder()
		var m pixel.Image
		o := DecodeOptions{Mode: Fast, EXIF: pixel.EXIFApply, MinH: 160, MinW: 40}
		if err := d.Decode(&m, &formats.Value{Data: turned(data, orientation)}, o); err != nil {
			t.Fatal(err)
		}
		if m.H != 160 || m.W != 40 {
			t.Errorf("orientation %d: decoded to %dx%d, want 40x160", orientation, m.W, m.H)
		}
		d.Close()
	}
}

// turned is a JPEG with an EXIF orientation.
func turned(data []byte, orientation int) []byte {
	exif := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0, 0)
	marked := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(marked, data[2:]...)
}

// A region decoded fast equals the region of the whole image decoded fast.
func TestFastRegion(t *testing.T) {
	for name, data := range regionFiles(t) {
		c := newRegionCheck(t, data, DecodeOptions{Mode: Fast})
		for _, n := range []int{1, 2, 4} {
			c.fast(name, n)
		}
		c.decoder.Close()
	}
}

func (c *regionCheck) fast(name string, n int) {
	o := c.options
	w, h := c.whole.W, c.whole.H
	o.MinW, o.MinH = w/n, h/n
	var scaled pixel.Image
	if err := c.decoder.Decode(&scaled, &c.value, o); err != nil {
		c.t.Fatal(err)
	}
	for x := range w - 20 {
		o.Region = pixel.Rect{X: x, Y: min(x/2, h-16), W: 20, H: 16}
		o.MinW, o.MinH = 20/n, 16/n
		if err := c.decoder.Decode(&c.got, &c.value, o); err != nil {
			c.t.Fatal(err)
		}
		region, area := scaledDown(o.Region, n, h, w)
		scaled.Crop(&c.want, region)
		if jpeg.HasLibjpegTurbo && (c.decoder.Area() != area || c.got.W != region.W || !bytes.Equal(c.got.Pix, c.want.Pix)) {
			c.t.Fatalf("%s, region %+v at 1/%d: %+v: %s", name, o.Region, n, c.decoder.Area(), firstDifference(&c.got, &c.want))
		}
	}
}
