package preprocess

import (
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// OutputSchema is the schema of the samples that Process returns. The shape of an image is set if it
// is the same for all samples, that is for raw pixels of a fixed size, and nil otherwise.
func (p *Processor) OutputSchema() formats.Schema {
	s := slices.Clone(p.schema)
	if p.recipe.keepsPixels() {
		return s
	}
	for i, f := range s {
		if f.Kind == formats.Image || f.Kind == formats.Mask {
			s[i].DType, s[i].Shape = p.recipe.output(f)
		}
	}
	return s
}

// output is the element type of a field's images, and their shape if the recipe fixes it.
func (r Recipe) output(f formats.Field) (d formats.DType, shape []int) {
	h, w, c := -1, -1, -1
	if len(f.Shape) == 3 {
		h, w, c = f.Shape[0], f.Shape[1], f.Shape[2]
	}
	d = f.DType
	if f.Kind == formats.Image && r.color() != pixel.ColorKeep {
		d, c = formats.Uint8, r.color().Channels(c)
	}
	switch {
	case r.Resize.Mode == ResizeExact || r.Resize.Mode == ResizeCover:
		h, w = r.Resize.H, r.Resize.W
	case r.Resize.Mode != ResizeNone || r.exif() == pixel.EXIFApply:
		return d, nil
	}
	if r.Encode.Encoding != formats.Raw || r.Zstd != 0 || h < 0 || w < 0 || c < 0 {
		return d, nil
	}
	return d, []int{h, w, c}
}
