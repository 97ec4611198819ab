package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
)

// recipes are the ways to pack the source that the plan tries, the lossless first. side is that of the images in the
// loader's batches.
func (s *source) recipes(o *Options, side int) []preprocess.Recipe {
	var list []preprocess.Recipe
	if len(o.Resizes)+len(o.Encodings) > 0 {
		list = combine(o.Resizes, o.Encodings)
	} else {
		list = s.suited(side)
	}
	for i := range list {
		s.complete(&list[i], &o.Bench.Config)
	}
	slices.SortStableFunc(list, func(a, b preprocess.Recipe) int { return rank(a) - rank(b) })
	return list
}

// rank orders recipes: those that keep the pixels come first.
func rank(r preprocess.Recipe) int {
	if lossless(r) {
		return 0
	}
	return 1
}

// lossless reports whether training gets the same pixels as from the source.
func lossless(r preprocess.Recipe) bool {
	return r.Resize.Mode == preprocess.ResizeNone && r.Encode.Encoding != formats.JPEG
}

// mostPixels are those of the largest images whose pixels are worth storing: 16 million are 48 MB, which a loader
// holds for each worker and each image ahead.
const mostPixels = 16 << 20

// suited are the recipes that suit the source's images. No image is enlarged.
func (s *source) suited(side int) []preprocess.Recipe {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	list := []preprocess.Recipe{{}}
	if s.jpegs {
		list = append(list, preprocess.Recipe{Encode: tiled()})
	}
	if !s.raw && s.largest <= mostPixels {
		list = append(list, preprocess.Recipe{Encode: raw})
	}
	side = side * 8 / 7 // as evaluation resizes before it crops
	if !s.mostLargerThan(side) {
		return list
	}
	shorter := preprocess.Resize{Mode: preprocess.ResizeShorter, W: side, H: side}
	if !s.deep { // a JPEG has 8 bits
		list = append(list, preprocess.Recipe{Resize: shorter, Encode: photos(90)})
	}
	list = append(list, preprocess.Recipe{Resize: shorter, Encode: raw})
	if s.allAtLeast(side) {
		cover := preprocess.Resize{Mode: preprocess.ResizeCover, W: side, H: side}
		list = append(list, preprocess.Recipe{Resize: cover, Encode: raw})
	}
	return list
}

func tiled() codec.EncodeOptions {
	return codec.EncodeOptions{Tiled: true, Interval: codec.DefaultInterval}
}

// photos are JPEGs as dsconv pack --encode jpeg:QUALITY writes them.
func photos(quality int) codec.EncodeOptions {
	return codec.EncodeOptions{Encoding: formats.JPEG, Quality: quality, Interval: codec.DefaultInterval}
}

// combine are all combinations of sizes and encodings that a pack accepts. Without sizes images keep theirs; without
// encodings they are JPEGs and pixels or, with their size, also unchanged and tiled.
func combine(sizes []preprocess.Resize, encodings []codec.EncodeOptions) (list []preprocess.Recipe) {
	if len(sizes) == 0 {
		sizes = []preprocess.Resize{{}}
	}
	if len(encodings) == 0 {
		encodings = []codec.EncodeOptions{{}, tiled(), photos(90), {Encoding: formats.Raw}}
	}
	for _, size := range sizes {
		for _, e := range encodings {
			if e.Encoding == formats.JPEG && !e.Progressive && e.Interval == 0 {
				e.Interval = codec.DefaultInterval // as dsconv pack does
			}
			r := preprocess.Recipe{Resize: size, Encode: e}
			if r.Validate() == nil && !slices.ContainsFunc(list, func(o preprocess.Recipe) bool { return o.Resize == r.Resize && o.Encode == r.Encode }) {
				list = append(list, r)
			}
		}
	}
	return list
}

// complete sets what else must be packed so that the loader gets the pixels that it would get from the source.
func (s *source) complete(r *preprocess.Recipe, config *reader.Config) {
	r.MaxPixels = config.MaxPixels
	if r.Encode.Encoding == "" {
		return
	}
	r.Color = config.Color
	if s.deep && config.DType == formats.Uint16 {
		r.Color = pixel.ColorKeep
	}
	if config.ApplyOrientation {
		r.EXIF = pixel.EXIFApply
	}
}

// flags are the recipe as flags of dsconv pack.
func flags(r preprocess.Recipe) (text string) {
	if r.Resize.Mode != preprocess.ResizeNone {
		text = fmt.Sprintf(" --resize %s", r.Resize)
	}
	switch e := r.Encode; {
	case e.Tiled && e.Interval == codec.DefaultInterval:
		text += " --encode jpeg-tiled"
	case e.Encoding == formats.JPEG:
		if e.Interval == codec.DefaultInterval {
			e.Interval = 0 // pack's default
		}
		text += " --encode " + e.String()
	case e.Encoding != "" || e.Tiled:
		text += " --encode " + e.String()
	}
	if r.Encode.Encoding != "" && r.Color != pixel.ColorRGB && r.Color != "" {
		text += " --color " + string(r.Color)
	}
	if r.EXIF == pixel.EXIFApply {
		text += " --exif apply"
	}
	if r.MaxPixels > 0 {
		text += fmt.Sprintf(" --max-pixels %d", r.MaxPixels)
	}
	return strings.TrimPrefix(text, " ")
}
