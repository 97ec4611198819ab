package codec

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/exif"
	"github.com/dsconv/dsconv/internal/image/luma"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The ways an image of more than 8 bits per channel can lose some of them; see Decoder.Narrowed.
const (
	// NarrowedClipped is for grey images, as Pillow's mode I;16: values above 255 became 255.
	NarrowedClipped = "16-bit grey became 8-bit: values above 255 are 255, as in Pillow"
	// NarrowedCut is for colour, and for grey with alpha: Pillow reads the high byte alone.
	NarrowedCut = "16 bits per channel became 8: the high byte is kept, as in Pillow"
	// narrowedFloats is for TIFFs of floats. This one and those below are of images whose values can't be kept.
	narrowedFloats   = "a TIFF of floats became 8-bit: fractions are cut, values below 0 are 0 and above 255 are 255, as in Pillow"
	narrowedIntegers = "a TIFF of signed or 32-bit integers became 8-bit: values below 0 are 0 and above 255 are 255, as in Pillow"
	narrowedTIFF     = "a TIFF of 16-bit CMYK, or of 16-bit colours multiplied by alpha, became 8-bit: the high byte is kept"
)

// KeptDeep reports whether an image that was narrowed this way keeps all its values in DecodeOptions.Deep and in pixel.ColorKeep.
func KeptDeep(how string) bool { return how == NarrowedClipped || how == NarrowedCut }

// narrowed says how pixels of 16 bits lose values as 8 bits, "" if they don't.
func narrowed(m *pixel.Image) string {
	if m.DType != formats.Uint16 {
		return ""
	}
	for i := 0; i < len(m.Pix); i += 2 {
		switch low, high := m.Pix[i], m.Pix[i+1]; {
		case m.C == 1 && high > 0:
			return NarrowedClipped
		case m.C > 1 && low != high: // equal in an image converted from 8 bits
			return NarrowedCut
		}
	}
	return ""
}

// keepsDepth reports whether 16 bits per channel are kept, though the channels may change.
func (o DecodeOptions) keepsDepth(d formats.DType) bool { return o.Deep && d == formats.Uint16 }

// keeps reports whether pixels of a header's channels and type stay as they are.
func (o DecodeOptions) keeps(h pixel.Header) bool {
	return o.Color.Keeps(h) || o.keepsDepth(h.DType) && o.Color.Channels(h.C) == h.C
}

// pixelSize is the length in bytes of a converted pixel.
func (o DecodeOptions) pixelSize(h pixel.Header) int {
	n := o.Color.Channels(h.C)
	if o.keepsDepth(h.DType) {
		n *= h.DType.Size()
	}
	return n
}

// convert writes src with the channels and depth of o to dst, another image.
func (d *Decoder) convert(dst, src *pixel.Image, o DecodeOptions) error {
	switch {
	case o.Color == pixel.ColorKeep || !o.keepsDepth(src.DType):
		if o.Color != pixel.ColorKeep && d.narrowed == "" {
			d.narrowed = narrowed(src)
		}
		return o.Color.Convert(dst, src)
	case o.Color.Channels(src.C) == src.C:
		dst.Reset(src.H, src.W, src.C, src.DType)
		copy(dst.Pix, src.Pix)
	default:
		convertDeep(o.Color, dst, src)
	}
	return nil
}

// convertDeep is Color.Convert for pixels that keep their 16 bits. Grey is computed from colours by the
// same sum as at 8 bits.
func convertDeep(c pixel.Color, dst, src *pixel.Image) {
	dst.Reset(src.H, src.W, c.Channels(src.C), src.DType)
	in, out, le := src.Pix, dst.Pix, binary.LittleEndian
	for range src.H * src.W {
		switch {
		case dst.C == 1 && src.C < 3:
			copy(out[:2], in)
		case dst.C == 1:
			r, g, b := uint32(le.Uint16(in)), uint32(le.Uint16(in[2:])), uint32(le.Uint16(in[4:]))
			le.PutUint16(out, uint16(luma.Sum(r, g, b)))
		case src.C < 3:
			for k := range 3 {
				copy(out[2*k:2*k+2], in)
			}
		default:
			copy(out[:6], in)
		}
		in, out = in[src.PixelSize():], out[dst.PixelSize():]
	}
}

// bilevel reports whether an image's pixels are single bits of grey: Pillow's mode "1", of which
// numpy.asarray(Image.open(p)) is 0 and 1. A BMP of that kind has a palette: see decodeIndexedBMP.
func bilevel(data []byte, enc formats.Encoding) bool {
	switch enc {
	case formats.PNG:
		header, _, err := pngBeforePixels(data)
		return err == nil && header[8] == 1 && header[9] == pngGray
	case formats.TIFF:
		t, err := exif.ReadTags(data)
		if err != nil {
			return false
		}
		k, err := tiffKindOf(&t)
		return err == nil && k.bits == 1 && k.colors == tiffGray
	}
	return false
}

// zeroOne makes 1 of all pixels that are not 0.
func zeroOne(m *pixel.Image) {
	for i, v := range m.Pix {
		m.Pix[i] = min(v, 1)
	}
}
