package preprocess

import (
	"github.com/dsconv/dsconv/formats"
)

func inspectTIFF(data []byte) (Header, error) {
	d, err := firstIFD(data)
	if err != nil {
		return Header{}, err
	}
	h := Header{
		H: d.value(tagHeight, 0), W: d.value(tagWidth, 0),
		C: 3, DType: formats.Uint8, Orientation: 1,
	}
	if d.value(tagBits, 1) == 16 {
		h.DType = formats.Uint16
	}
	samples := d.value(tagSamples, 1)
	switch p := d.value(tagPhotometric, -1); {
	case p == tiffPalette:
		h.Palette, h.DType = true, formats.Uint8
	case (p == tiffGray || p == tiffGrayInverted) && samples == 1:
		h.C = 1
	case samples == 4 && d.value(tagExtraSamples, 0) > 0:
		h.C = 4
	}
	if d.orientation() > 4 {
		h.H, h.W = h.W, h.H
	}
	return h, nil
}
