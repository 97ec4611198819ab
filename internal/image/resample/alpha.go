package resample

import "github.com/dsconv/dsconv/preprocess/pixel"

// premultiply writes the rectangle crop of src to dst with colours multiplied by alpha, as
// Pillow's conversion to La and RGBa does.
func premultiply(dst, src *pixel.Image, crop pixel.Rect) {
	_ = src.Crop(dst, crop) // cannot fail: both were checked
	c := dst.C
	for i := 0; i < len(dst.Pix); i += c {
		p := dst.Pix[i : i+c]
		for j := range p[:c-1] {
			t := uint32(p[j])*uint32(p[c-1]) + 128
			p[j] = byte(((t >> 8) + t) >> 8)
		}
	}
}

// unpremultiply undoes premultiply in place, as Pillow's conversion from La and RGBa does.
func unpremultiply(m *pixel.Image) {
	c := m.C
	for i := 0; i < len(m.Pix); i += c {
		p := m.Pix[i : i+c]
		a := uint32(p[c-1])
		if a == 0 || a == 255 {
			continue
		}
		for j := range p[:c-1] {
			p[j] = byte(min(255*uint32(p[j])/a, 255))
		}
	}
}
