package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Area returns where the requested region lies in the last decoded image: all of it, except that with
// Fast, pixels at the edges may also cover surroundings of the region.
func (d *Decoder) Area() pixel.Area { return d.area }

// Inspect returns the header of v, an encoded image or raw pixels.
func (d *Decoder) Inspect(v *formats.Value) (pixel.Header, error) {
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		return RawHeader(v)
	}
	_, h, err := Inspect(v.Data)
	return h, err
}

// Size returns the height and width of Decode's result without Region. It reads only the header.
func (d *Decoder) Size(v *formats.Value, o DecodeOptions) (h, w int, err error) {
	head, err := d.Inspect(v)
	if err != nil {
		return 0, 0, err
	}
	if o.EXIF != pixel.EXIFApply {
		return head.H, head.W, nil
	}
	h, w = pixel.OrientedSize(head.H, head.W, head.Orientation)
	return h, w, nil
}

// storedRegion is the rectangle of the stored image that o asks for.
func (o DecodeOptions) storedRegion(h pixel.Header) (pixel.Rect, error) {
	all := pixel.Rect{W: h.W, H: h.H}
	if o.Region == (pixel.Rect{}) {
		return all, nil
	}
	orientation := 1
	if o.EXIF == pixel.EXIFApply {
		orientation = h.Orientation
	}
	uprightH, uprightW := pixel.OrientedSize(h.H, h.W, orientation)
	if !o.Region.Inside(uprightW, uprightH) {
		return pixel.Rect{}, fmt.Errorf("region %+v is not inside %dx%d", o.Region, uprightW, uprightH)
	}
	return storedRect(o.Region, uprightH, uprightW, orientation), nil
}

// scaleDenominator is by how much an image may be scaled down while decoding so that its rectangle r
// keeps at least MinW by MinH pixels.
func (o DecodeOptions) scaleDenominator(r pixel.Rect) int {
	if o.Mode != Fast || o.MinH <= 0 || o.MinW <= 0 {
		return 1
	}
	for n := 8; n > 1; n /= 2 {
		if r.W/n >= o.MinW && r.H/n >= o.MinH {
			return n
		}
	}
	return 1
}

// decodeJPEG decodes the rectangle r of a JPEG to dst. With restart markers, the tiles around r
// are decoded alone; without them, the rows and columns around it. A damaged image is decoded as
// a whole, so that its pixels are Pillow's.
func (d *Decoder) decodeJPEG(dst *pixel.Image, data []byte, h pixel.Header, r pixel.Rect, o DecodeOptions) (err error) {
	n := o.scaleDenominator(r)
	q := jpeg.Request{W: h.W, H: h.H, Channels: o.Color.Channels(h.C), Scale: n, Fast: o.Mode == Fast}
	q.Region, d.area = scaledDown(r, n, h.H, h.W)
	all := pixel.Rect{W: (h.W + n - 1) / n, H: (h.H + n - 1) / n}
	if q.Region == all {
		d.warning, err = d.jpeg.Decode(dst, data, q)
		return err
	}
	if warning, err := d.jpeg.Decode(dst, data, q); err == nil && warning == "" || pixel.EndsRun(err) {
		return err
	}
	region := q.Region
	q.Region = all
	if err := d.reserveMore(budget.ImageBytes(h.H/n+1, h.W/n+1, q.Channels)); err != nil {
		return err
	}
	if d.warning, err = d.jpeg.Decode(&d.scratch[3], data, q); err != nil {
		return err
	}
	return d.scratch[3].Crop(dst, region)
}

// storedRect returns where the rectangle r of the upright image, of h by w pixels, is stored.
func storedRect(r pixel.Rect, h, w, orientation int) pixel.Rect {
	b := pixel.OrientBox([4]float64{float64(r.X), float64(r.Y), float64(r.X + r.W), float64(r.Y + r.H)}, h, w, back(orientation))
	return pixel.Rect{X: int(b[0]), Y: int(b[1]), W: int(b[2] - b[0]), H: int(b[3] - b[1])}
}

// scaledDown returns the rectangle that contains r in the image of h by w pixels scaled down by n,
// and where r lies in it.
func scaledDown(r pixel.Rect, n, h, w int) (pixel.Rect, pixel.Area) {
	x, y := r.X/n, r.Y/n
	right, bottom := min((r.X+r.W+n-1)/n, (w+n-1)/n), min((r.Y+r.H+n-1)/n, (h+n-1)/n)
	region := pixel.Rect{X: x, Y: y, W: right - x, H: bottom - y}
	at := func(pixel, from int) float64 { return float64(pixel)/float64(n) - float64(from) }
	return region, pixel.Area{X0: at(r.X, x), Y0: at(r.Y, y), X1: at(r.X+r.W, x), Y1: at(r.Y+r.H, y)}
}

// back is the orientation that undoes another one.
func back(orientation int) int {
	switch orientation {
	case 6:
		return 8
	case 8:
		return 6
	}
	return orientation
}

// ToStored makes of v, pixels that were drawn on an image with that EXIF orientation when it was upright, those that
// belong to the image as it is stored. They are decoded with the options, and become a PNG, or stay raw.
func ToStored(v *formats.Value, orientation int, o DecodeOptions) error {
	d, e := NewDecoder(), NewEncoder()
	defer d.Close()
	defer e.Close()
	var upright, stored pixel.Image
	if err := d.Decode(&upright, v, o); err != nil {
		return err
	}
	if err := pixel.Orient(&stored, &upright, back(orientation)); err != nil {
		return err
	}
	enc := EncodeOptions{Encoding: formats.PNG}
	if v.Encoding.IsRaw() {
		enc.Encoding = formats.Raw
	}
	return e.Encode(v, &stored, enc, 0)
}

// BoxToStored is ToStored for a box, x0 y0 x1 y1. h and w are the size of the image as it is stored.
func BoxToStored(b [4]float32, h, w, orientation int) [4]float32 {
	h, w = pixel.OrientedSize(h, w, orientation)
	return pixel.OrientBox(b, h, w, back(orientation))
}
