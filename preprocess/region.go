package preprocess

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Area is where the wanted region lies in the image that was decoded last: all of it, but for
// pixels at the edges that Fast made of the region and its surroundings.
func (d *Decoder) Area() Area { return d.area }

// Inspect is the header of v, which is an encoded image or raw pixels.
func (d *Decoder) Inspect(v *formats.Value) (Header, error) {
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		return rawHeader(v)
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
	h, w = orientedSize(head.H, head.W, head.Orientation)
	return h, w, nil
}

// region is the part of the stored image that o asks for.
func (o DecodeOptions) region(h Header) (Rect, error) {
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

// scale is how many times smaller an image may be decoded of which the part r is to become
// no less than least in height and width.
func (o DecodeOptions) scale(r Rect) int {
	if !o.Fast || !CanScale || o.LeastH <= 0 || o.LeastW <= 0 {
		return 1
	}
	least := Rect{W: o.LeastW, H: o.LeastH}
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
func (d *Decoder) decodeJPEG(dst *Image, data []byte, h Header, r Rect, o DecodeOptions) (err error) {
	n := o.scale(r)
	q := jpegRequest{w: h.W, h: h.H, channels: o.Color.channels(h.C), scale: n, fast: o.Fast}
	q.part, d.area = r.shrink(n, h.H, h.W)
	all := Rect{W: (h.W + n - 1) / n, H: (h.H + n - 1) / n}
	if q.part == all {
		d.warning, err = d.jpeg.decode(dst, data, q)
		return err
	}
	if n == 1 && !seeks {
		if tiles, part, ok := d.splicer.splice(data, r); ok {
			tile := q
			tile.w, tile.h, tile.part = tiles.w, tiles.h, part
			if warning, err := d.jpeg.decode(dst, tiles.data, tile); err == nil && warning == "" || EndsRun(err) {
				return err
			}
		}
	}
	if warning, err := d.jpeg.decode(dst, data, q); err == nil && warning == "" || EndsRun(err) {
		return err
	}
	part := q.part
	q.part = all
	if err := d.more(area(h.H/n+1, h.W/n+1, q.channels)); err != nil {
		return err
	}
	if d.warning, err = d.jpeg.decode(&d.scratch[3], data, q); err != nil {
		return err
	}
	d.scratch[3].crop(dst, part)
	return nil
}
