package codec

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func inspectTIFF(data []byte) (pixel.Header, error) {
	d, err := exif.FirstIFD(data)
	if err != nil {
		return pixel.Header{}, err
	}
	h := pixel.Header{
		H: d.Value(exif.TagHeight, 0), W: d.Value(exif.TagWidth, 0),
		C: 3, DType: formats.Uint8, Orientation: 1,
	}
	if d.Value(exif.TagBits, 1) == 16 {
		h.DType = formats.Uint16
	}
	samples := d.Value(exif.TagSamples, 1)
	switch p := d.Value(exif.TagPhotometric, -1); {
	case p == exif.Palette:
		h.Palette, h.DType = true, formats.Uint8
	case (p == exif.Gray || p == exif.GrayInverted) && samples == 1:
		h.C = 1
	case samples == 4 && d.Value(exif.TagExtraSamples, 0) > 0:
		h.C = 4
	}
	if d.Orientation() > 4 {
		h.H, h.W = h.W, h.H
	}
	return h, nil
}
