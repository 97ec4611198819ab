package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
)

const (
	// inspected is how many of the sample's images have their headers read.
	inspected = 128
	// fillBytes of images are more than the processor's caches hold for long, together with what is made of them; but no
	// more than fillMost images are tried for that.
	fillBytes = 16 << 20
	fillMost  = 1 << 14
)

// source is the dataset that is planned for, and what is known about its images.
type source struct {
	ds    formats.Dataset
	path  string
	split string // that is loaded; "" is all

	count, bytes int64 // of all images
	loaded       []int32
	indices      []int32 // some of loaded: the sample

	jpegs   bool  // most images are JPEGs
	raw     bool  // most images are pixels already
	deep    bool  // some have 16 bits per channel
	shorter []int // shorter sides of some images, sorted
	largest int64 // pixels of the largest of these
}

// survey reads what Info says of all images, and the headers of some.
func survey(ctx context.Context, ds formats.Dataset, path string, o *Options) (*source, error) {
	config := &o.Bench.Config
	s := &source{ds: ds, path: path, split: config.Split}
	if s.split == "" && len(config.Splits) == 0 {
		s.split = reader.TrainSplit(ds.Meta())
	}
	wanted := config.Splits
	if s.split != "" {
		wanted = []string{s.split}
	}
	for i := range ds.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		in, err := ds.Info(i)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", path, err)
		}
		s.count++
		s.bytes += in.Size
		if wanted == nil || slices.Contains(wanted, in.Split) {
			s.loaded = append(s.loaded, int32(i))
		}
	}
	if len(s.loaded) == 0 {
		return nil, fmt.Errorf("plan %s: there are no images to load; the splits are %v", path, ds.Meta().Splits)
	}
	s.indices = spread(s.loaded, s.enough(o))
	return s, s.inspect(ctx)
}

// enough is the number of images to try.
func (s *source) enough(o *Options) int {
	if o.Sample > 0 {
		return o.Sample
	}
	fill := min(fillMost, fillBytes*float64(s.count)/float64(max(s.bytes, 1)))
	return max(o.effort.sample, int(fill))
}

// inspect reads the headers of some of the sample's images.
func (s *source) inspect(ctx context.Context) error {
	jpegs, raw, seen := 0, 0, 0
	var sample formats.Sample
	for _, i := range spread(s.indices, inspected) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if guard.Do(func() error { return s.ds.Read(int(i), &sample) }) != nil {
			continue // a bad image, which loading and packing name
		}
		v := &sample.Values[s.ds.Meta().Schema.ImageIndex()]
		h, w, deep, ok := shapeOf(v)
		if !ok {
			continue
		}
		s.deep = s.deep || deep
		s.shorter = append(s.shorter, min(h, w))
		s.largest = max(s.largest, int64(h)*int64(w))
		seen++
		if v.Encoding == formats.Raw {
			raw++
		}
		if v.Encoding == formats.JPEG {
			jpegs++
		}
	}
	if seen == 0 {
		return fmt.Errorf("plan %s: none of the images that were tried can be read: dsconv pack lists each with its cause", s.path)
	}
	slices.Sort(s.shorter)
	s.jpegs, s.raw = 2*jpegs > seen, 2*raw > seen
	return nil
}

// shapeOf returns an image's size and whether it has 16 bits per channel.
func shapeOf(v *formats.Value) (h, w int, deep, ok bool) {
	if v.Encoding.IsRaw() {
		if len(v.Shape) < 2 {
			return 0, 0, false, false
		}
		return v.Shape[0], v.Shape[1], v.DType == formats.Uint16, true
	}
	_, head, err := codec.Inspect(v.Data)
	return head.H, head.W, head.DType == formats.Uint16, err == nil
}

// mostLargerThan reports whether most images are larger than a side.
func (s *source) mostLargerThan(side int) bool { return s.shorter[len(s.shorter)/2] > side }

// allAtLeast reports whether no image that was looked at is smaller than a side.
func (s *source) allAtLeast(side int) bool { return s.shorter[0] >= side }

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
