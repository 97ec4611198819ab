package parity

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/resample"
)

// paths are all that Run compares, by what is made of an image.
type paths struct{ decode, resize, torchvision, packed, stored, region, crop, fast *Path }

func (p *paths) all() []*Path {
	return []*Path{p.decode, p.resize, p.torchvision, p.packed, p.stored, p.region, p.crop, p.fast}
}

// The usual transforms where the recipe has no resize, and the size of random crops.
const (
	usualResize = 256
	usualCrop   = 224
)

func (r *run) newPaths() paths {
	resize := fmt.Sprintf("shorter:%d bilinear, centre %d", usualResize, usualCrop)
	if r.recipe.Resize.Mode != preprocess.ResizeNone {
		resize = fmt.Sprintf("%s %s", r.recipe.Resize, r.resizing().Filter)
	}
	return paths{
		decode:      &Path{Name: "decode", What: "the source, decoded"},
		resize:      &Path{Name: "resize", What: "the source, " + resize},
		torchvision: &Path{Name: "torchvision", What: "the same by torchvision"},
		packed:      &Path{Name: "packed", What: "what is stored, against Pillow's pixels of the source", Allowed: r.allowed()},
		stored:      &Path{Name: "stored", What: "what is stored, decoded"},
		region:      &Path{Name: "region", What: "a part of what is stored, decoded alone"},
		crop:        &Path{Name: "crop", What: fmt.Sprintf("a random part of what is stored, bilinear to %d", usualCrop)},
		fast:        &Path{Name: "fast", What: "the source, as resize, by --decode fast", Allowed: "asked for by name"},
	}
}

// allowed is why what is stored may differ from Pillow's pixels of the source.
func (r *run) allowed() string {
	decoder := r.found.Recipe["decoder"]
	switch {
	case r.recipe.Encode.Encoding == formats.JPEG:
		return fmt.Sprintf("%s is lossy", r.recipe.Encode)
	case r.fast:
		return "decode fast was asked for by name"
	case decoder != "" && decoder != jpeg.DecoderName:
		return "packed by the decoder " + decoder
	}
	return ""
}

// resizing is the recipe of the path resize: the dataset's, or the usual evaluation's, as
// raw pixels.
func (r *run) resizing() preprocess.Recipe {
	recipe := r.recipe
	recipe.Encode, recipe.Zstd = codec.Encode{Encoding: formats.Raw}, 0
	if recipe.Resize.Mode == preprocess.ResizeNone {
		recipe.Resize = preprocess.Resize{Mode: preprocess.ResizeShorter, W: usualResize}
		recipe.Upscale = true
	}
	if recipe.Filter == "" {
		recipe.Filter = resample.Bilinear
	}
	return recipe
}

// resizeStep asks for that of Pillow.
func (r *run) resizeStep() step {
	recipe := r.resizing()
	s := step{
		Op: "resize", Filter: recipe.Filter,
		Mode: recipe.Resize.Mode, W: recipe.Resize.W, H: recipe.Resize.H, Upscale: recipe.Upscale,
	}
	if r.recipe.Resize.Mode == preprocess.ResizeNone {
		s.Center = usualCrop
	}
	return s
}

// inTorchvision says whether the step, of an image of that size, is one that torchvision has
// a word for: Resize, with CenterCrop for a square that is to be covered.
func (s step) inTorchvision(h, w int) bool {
	switch s.Mode {
	case preprocess.ResizeShorter:
		return s.Upscale || s.W <= min(h, w)
	case preprocess.ResizeExact:
		return true
	case preprocess.ResizeCover:
		return s.W == s.H
	}
	return false
}

// size is what the step scales an image to, before anything is cut off.
func (s step) size(h, w int) (int, int) {
	toW, toH, _ := preprocess.Resize{Mode: s.Mode, W: s.W, H: s.H}.Plan(w, h, s.Upscale)
	return toH, toW
}

// otherOrder says whether a Pillow before 13 scales an image of h by w pixels in another
// order of passes, which rounds otherwise in between.
func otherOrder(h, w, toH, toW int) bool {
	return toW != w && h > toH && h-toH > 2*(w-toW)
}
