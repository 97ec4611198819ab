package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/budget"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Area is where the wanted region lies in the image that was decoded last: all of it, but for
// pixels at the edges that Fast made of the region and its surroundings.
func (d *Decoder) Area() pixel.Area { return d.area }

// Inspect is the header of v, which is an encoded image or raw pixels.
func (d *Decoder) Inspect(v *formats.Value) (pixel.Header, error) {
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		return RawHeader(v)
	}
	_, h, err := Inspect(v.Data)
	return h, err
}

// Size is the height and width of what Decode gives without Region; it reads the header alone.
func (d *Decoder) Size(v *formats.Value, o DecodeOptions) (h, w int, err error) {
	head, err := d.Inspect(v)
	if err != nil {
		return 0, 0, err
	}
	if !o.ApplyOrientation {
		return head.H, head.W, nil
	}
	h, w = pixel.OrientedSize(head.H, head.W, head.Orientation)
	return h, w, nil
}

// region is the part of the stored image that o asks for.
func (o DecodeOptions) region(h pixel.Header) (pixel.Rect, error) {
	all := pixel.Rect{W: h.W, H: h.H}
	if o.Region == (pixel.Rect{}) {
		return all, nil
	}
	orientation := 1
	if o.ApplyOrientation {
		orientation = h.Orientation
	}
	uprightH, uprightW := pixel.OrientedSize(h.H, h.W, orientation)
	if !o.Region.Inside(uprightW, uprightH) {
		return pixel.Rect{}, fmt.Errorf("region %+v is not inside %dx%d", o.Region, uprightW, uprightH)
	}
	return pixel.StoredRect(o.Region, uprightH, uprightW, orientation), nil
}

// scale is how many times smaller an image may be decoded of which the part r is to become
// no less than least in height and width.
func (o DecodeOptions) scale(r pixel.Rect) int {
	if !o.Fast || !jpeg.CanScale || o.LeastH <= 0 || o.LeastW <= 0 {
		return 1
	}
	least := pixel.Rect{W: o.LeastW, H: o.LeastH}
	for n := 8; n > 1; n /= 2 {
		if r.W/n >= least.W && r.H/n >= least.H {
			return n
		}
	}
	return 1
}

// decodeJPEG makes dst the part r of data's pixels. Where data has restart markers for that, the
// tiles that r lies in are decoded alone: the decoder goes to them by itself or, if it cannot,
// gets them spliced. Else it is the rows and columns around r. Damaged images are decoded as a
// whole, so that they give what Pillow gives.
func (d *Decoder) decodeJPEG(dst *pixel.Image, data []byte, h pixel.Header, r pixel.Rect, o DecodeOptions) (err error) {
	n := o.scale(r)
	q := jpeg.Request{W: h.W, H: h.H, Channels: o.Color.Channels(h.C), Scale: n, Fast: o.Fast}
	q.Part, d.area = r.Shrink(n, h.H, h.W)
	all := pixel.Rect{W: (h.W + n - 1) / n, H: (h.H + n - 1) / n}
	if q.Part == all {
		d.warning, err = d.jpeg.Decode(dst, data, q)
		return err
	}
	if n == 1 && !jpeg.Seeks {
		if tiles, part, ok := d.splicer.Splice(data, r); ok {
			tile := q
			tile.W, tile.H, tile.Part = tiles.W, tiles.H, part
			if warning, err := d.jpeg.Decode(dst, tiles.Data, tile); err == nil && warning == "" || pixel.EndsRun(err) {
				return err
			}
		}
	}
	if warning, err := d.jpeg.Decode(dst, data, q); err == nil && warning == "" || pixel.EndsRun(err) {
		return err
	}
	part := q.Part
	q.Part = all
	if err := d.more(budget.Area(h.H/n+1, h.W/n+1, q.Channels)); err != nil {
		return err
	}
	if d.warning, err = d.jpeg.Decode(&d.scratch[3], data, q); err != nil {
		return err
	}
	d.scratch[3].Crop(dst, part)
	return nil
}
