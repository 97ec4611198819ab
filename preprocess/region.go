package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// jpegRequest is the region of a JPEG to decode, and how.
type jpegRequest struct {
	w, h        int  // of the whole image
	channels    int  // 1 or 3
	scale       int  // 1, 2, 4 or 8: the image is scaled down by so much
	region      Rect // of the scaled image
	fast        bool
	libjpegOnly bool // without our Huffman decoder, for tests to compare with
}

// Area is a rectangle of an image, from (X0, Y0) to (X1, Y1), whose edges may lie inside pixels.
type Area struct{ X0, Y0, X1, Y1 float64 }

// oriented moves an area of an h by w image as Orient moves its pixels.
func (b Area) oriented(h, w, orientation int) Area {
	if b == (Area{}) {
		return b
	}
	t := orientBox([4]float64{b.X0, b.Y0, b.X1, b.Y1}, h, w, orientation)
	return Area{t[0], t[1], t[2], t[3]}
}

// Area returns where the requested region lies in the last decoded image: all of it, except that with
// Fast, pixels at the edges may also cover surroundings of the region.
func (d *Decoder) Area() Area { return d.area }

// Inspect returns the header of v, an encoded image or raw pixels.
func (d *Decoder) Inspect(v *formats.Value) (Header, error) {
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		return rawHeader(v)
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
	if !o.ApplyOrientation {
		return head.H, head.W, nil
	}
	h, w = orientedSize(head.H, head.W, head.Orientation)
	return h, w, nil
}

// storedRegion is the rectangle of the stored image that o asks for.
func (o DecodeOptions) storedRegion(h Header) (Rect, error) {
	all := Rect{W: h.W, H: h.H}
	if o.Region == (Rect{}) {
		return all, nil
	}
	orientation := 1
	if o.ApplyOrientation {
		orientation = h.Orientation
	}
	uprightH, uprightW := orientedSize(h.H, h.W, orientation)
	if !o.Region.inside(uprightW, uprightH) {
		return Rect{}, fmt.Errorf("region %+v is not inside %dx%d", o.Region, uprightW, uprightH)
	}
	return storedRect(o.Region, uprightH, uprightW, orientation), nil
}

// storedRect returns where the rectangle r of the upright image, of h by w pixels, is stored.
func storedRect(r Rect, h, w, orientation int) Rect {
	inverse := orientation
	switch orientation {
	case 6:
		inverse = 8
	case 8:
		inverse = 6
	}
	b := orientBox([4]float64{float64(r.X), float64(r.Y), float64(r.X + r.W), float64(r.Y + r.H)}, h, w, inverse)
	return Rect{X: int(b[0]), Y: int(b[1]), W: int(b[2] - b[0]), H: int(b[3] - b[1])}
}

// scaleDenominator is by how much an image may be scaled down while decoding so that its rectangle r
// keeps at least MinW by MinH pixels.
func (o DecodeOptions) scaleDenominator(r Rect) int {
	if !o.Fast || !HasLibjpegTurbo || o.MinH <= 0 || o.MinW <= 0 {
		return 1
	}
	for n := 8; n > 1; n /= 2 {
		if r.W/n >= o.MinW && r.H/n >= o.MinH {
			return n
		}
	}
	return 1
}

// scaledDown returns the rectangle that contains r in the image of h by w pixels scaled down by n,
// and where r lies in it.
func (r Rect) scaledDown(n, h, w int) (Rect, Area) {
	x, y := r.X/n, r.Y/n
	right, bottom := min((r.X+r.W+n-1)/n, (w+n-1)/n), min((r.Y+r.H+n-1)/n, (h+n-1)/n)
	region := Rect{X: x, Y: y, W: right - x, H: bottom - y}
	at := func(pixel, from int) float64 { return float64(pixel)/float64(n) - float64(from) }
	return region, Area{X0: at(r.X, x), Y0: at(r.Y, y), X1: at(r.X+r.W, x), Y1: at(r.Y+r.H, y)}
}

// decodeJPEG decodes the rectangle r of a JPEG to dst. With restart markers, the tiles around r
// are decoded alone; without them, the rows and columns around it. A damaged image is decoded as
// a whole, so that its pixels are Pillow's.
func (d *Decoder) decodeJPEG(dst *Image, data []byte, h Header, r Rect, o DecodeOptions) (err error) {
	n := o.scaleDenominator(r)
	q := jpegRequest{w: h.W, h: h.H, channels: o.Color.channels(h.C), scale: n, fast: o.Fast}
	q.region, d.area = r.scaledDown(n, h.H, h.W)
	all := Rect{W: (h.W + n - 1) / n, H: (h.H + n - 1) / n}
	if q.region == all {
		d.warning, err = d.jpeg.decode(dst, data, q)
		return err
	}
	if warning, err := d.jpeg.decode(dst, data, q); err == nil && warning == "" || EndsRun(err) {
		return err
	}
	region := q.region
	q.region = all
	if err := d.reserveMore(imageBytes(h.H/n+1, h.W/n+1, q.channels)); err != nil {
		return err
	}
	if d.warning, err = d.jpeg.decode(&d.scratch[3], data, q); err != nil {
		return err
	}
	d.scratch[3].crop(dst, region)
	return nil
}
