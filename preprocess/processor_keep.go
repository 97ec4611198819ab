package preprocess

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// passThrough swaps the values and fills in types and shapes from the images' headers. It tiles
// JPEGs if the recipe asks for it.
func (p *Processor) passThrough(in, out *formats.Sample) error {
	out.SwapValues(in)
	for i, f := range p.schema {
		if f.Kind != formats.Image && f.Kind != formats.Mask {
			continue
		}
		before := p.warning
		h, err := p.checkedHeader(&out.Values[i], f.Kind)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if i != p.image && p.warning != before {
			p.warning = "field " + f.Name + ": " + p.warning
		}
		if f.Kind == formats.Mask && h.Palette {
			h.C, h.DType = 1, formats.Uint8
		}
		out.Values[i].DType = h.DType
		out.Values[i].SetShape(h.H, h.W, h.C)
		if i == p.image {
			p.orientation = h.Orientation
		}
		if !p.recipe.Encode.Tiled || f.Kind != formats.Image {
			continue
		}
		if err := p.tile(&out.Values[i], &in.Values[i]); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// tile replaces v, a JPEG, by a restart-tiled one in spare's memory. An image that cannot be tiled
// keeps its bytes; if it is damaged, which its structure may not have shown, tile returns an
// error.
func (p *Processor) tile(v, spare *formats.Value) (err error) {
	if p.reservation.ReserveImage(transcodeMemory(v.Data), len(v.Data), p.recipe.MaxPixels) != nil {
		p.untiled = append(p.untiled, jpeg.ReasonMemory)
		return nil
	}
	defer p.free()
	data, err := p.transcoder.Append(spare.Buffer(), v.Data, p.recipe.Encode.Interval, p.recipe.Strip)
	spare.SetOwn(data)
	var not *jpeg.NotTiledError
	switch {
	case err == nil:
		v.Swap(spare)
		v.Encoding, v.DType = spare.Encoding, spare.DType
		v.SetShape(spare.Shape...)
		p.tiled++
		return nil
	case !errors.As(err, &not):
		return err
	case not.Reason == jpeg.ReasonDamaged && p.warning == "":
		err = p.checkDecodes(v, nil, formats.Image)
	default:
		err = nil
	}
	p.untiled = append(p.untiled, not.Reason)
	return err
}

// checkedHeader checks the structure of a value and returns its header. An image that looks damaged
// is decoded: only what Pillow cannot read counts as damaged. kind is the field's.
func (p *Processor) checkedHeader(v *formats.Value, kind formats.Kind) (pixel.Header, error) {
	if v.Encoding == formats.Raw || v.Encoding == formats.RawZstd {
		h, err := inner.RawHeader(v)
		if want := h.H * h.W * h.C * h.DType.Size(); err == nil && v.Encoding == formats.Raw && len(v.Data) != want {
			err = fmt.Errorf("%w: %d raw bytes for shape %v of %s", pixel.ErrTruncated, len(v.Data), v.Shape, v.DType)
		}
		return h, err
	}
	enc, h, err := inner.Inspect(v.Data)
	if err != nil {
		return h, err
	}
	v.Encoding = enc
	if err := inner.CheckSize(h, p.recipe.MaxPixels); err != nil {
		return h, err
	}
	irregular, structureErr := inner.CheckStructure(v.Data, enc)
	if irregular == "" && structureErr == nil && p.recipe.Check != CheckDecode {
		return h, nil
	}
	return h, p.checkDecodes(v, structureErr, kind)
}

// checkDecodes returns an error if an image that is passed through cannot be decoded, and warns of
// what is irregular about it. An image of an unsupported kind passes with a warning: it may still be read as 8 bits.
// A mask of one cannot be loaded.
func (p *Processor) checkDecodes(v *formats.Value, structureErr error, kind formats.Kind) error {
	o := inner.DecodeOptions{Color: pixel.ColorKeep, MaxPixels: p.recipe.MaxPixels}
	defer p.free()
	decode := p.decodeAtLeast8
	if kind == formats.Mask { // its values are not to be cut
		decode = p.decode
	}
	err := decode(v, o)
	switch {
	case err != nil && pixel.EndsRun(err):
		return err
	case errors.Is(err, pixel.ErrUnsupported) && kind != formats.Mask:
		return p.warn("not checked: " + err.Error())
	case err != nil && structureErr != nil:
		return structureErr // it says more than the decoder, which sees bad pixels
	case err != nil:
		return err
	case structureErr != nil:
		return p.warn(structureErr.Error())
	}
	return p.warn(p.decoder.Warning())
}

// warn keeps a warning about an image; with Recipe.Strict it is an error.
func (p *Processor) warn(what string) error {
	if what == "" {
		return nil
	}
	if p.recipe.Strict {
		return fmt.Errorf("%w: %s", pixel.ErrCorrupt, what)
	}
	p.warning = what
	return nil
}

// Sums decodes the image v, which Process returned, to RGB with all its bits, and sums its pixels. An image whose bits
// cannot be kept, such as a TIFF of floats, has the 8 bits that a Loader gives it. The error is about the image, unless
// pixel.EndsRun reports true for it.
func (p *Processor) Sums(v *formats.Value) (s pixelsum.Image, err error) {
	if p.tools == nil {
		return s, fmt.Errorf("preprocess: Sums: the Processor did not come from NewProcessor, or %w", formats.ErrClosed)
	}
	defer p.free()
	o := inner.DecodeOptions{Color: pixel.ColorRGB, Deep: true, MaxPixels: p.recipe.MaxPixels}
	if err := p.decodeAtLeast8(v, o); err != nil {
		return s, err
	}
	return pixelsum.Of(&p.decoded)
}

// decode decodes v to p.decoded.
func (p *Processor) decode(v *formats.Value, o inner.DecodeOptions) error {
	return p.decoder.Decode(&p.decoded, v, o)
}

// decodeAtLeast8 decodes v to p.decoded. An image whose depth cannot be kept as o asks becomes 8-bit RGB.
func (p *Processor) decodeAtLeast8(v *formats.Value, o inner.DecodeOptions) error {
	err := p.decode(v, o)
	if errors.Is(err, pixel.ErrUnsupported) {
		o.Color, o.Deep = pixel.ColorRGB, false
		err = p.decode(v, o)
	}
	return err
}
