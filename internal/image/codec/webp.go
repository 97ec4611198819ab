package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

// decodeWebP decodes the first frame to its canvas, which is transparent black elsewhere.
func (d *Decoder) decodeWebP(dst *pixel.Image, data []byte, h pixel.Header, c pixel.Color) error {
	f, err := firstWebPFrame(data)
	if err == nil {
		err = f.check(h)
	}
	if err != nil {
		return err
	}
	target, channels := dst, c.Channels(h.C)
	if channels == 1 {
		target, channels = &d.scratch[0], 3
	}
	target.Reset(h.H, h.W, channels, h.DType)
	if f.w < h.W || f.h < h.H {
		clear(target.Pix)
	}
	if err := webpPixels(target, data); err != nil {
		return err
	}
	if target != dst {
		return c.Convert(dst, target)
	}
	return nil
}
