package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

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
