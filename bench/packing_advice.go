package bench

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// packing is a way to pack a dataset.
type packing struct {
	flags  string // of dsconv pack
	recipe preprocess.Recipe
}

// lossless reports whether the same pixels reach training.
func (p *packing) lossless() bool {
	e := &p.recipe.Encode
	return p.recipe.Resize.Mode == preprocess.ResizeNone && (e.Tiled || e.Encoding == formats.Raw)
}

// repack advises how to pack the images so that the stage takes less time, and says what that costs: first the ways that
// keep the pixels, then those that change them. It leaves out what does not fit on the disk or, for raw pixels, in memory.
func repack(d *Dataset, m *images, stage string) string {
	if stage == "read" && d.Format == "folder" {
		return "try packing it into another format, unchanged"
	}
	if m == nil {
		return ""
	}
	var lossless, changing []string
	for _, p := range m.packings(d.Encoding, stage) {
		if m.deep && p.recipe.Encode.Encoding == formats.JPEG { // it has 8 bits
			continue
		}
		size, ok := m.sizeOf(p.recipe)
		if raw := p.recipe.Encode.Encoding == formats.Raw; !ok || !m.holds(size, d.Disk, raw) {
			continue
		}
		text := fmt.Sprintf("with %s (about %s MB of images, %s MB on disk now)", p.flags, megabytes(size), megabytes(d.Disk))
		if p.lossless() {
			lossless = append(lossless, text)
		} else {
			changing = append(changing, text)
		}
	}
	switch {
	case len(lossless) == 0 && len(changing) == 0:
		return ""
	case len(changing) == 0:
		return "try packing " + strings.Join(lossless, ", or ") + ": lossless"
	case len(lossless) == 0:
		return "try packing " + strings.Join(changing, ", or ") + ": this changes pixels"
	}
	return "try packing " + strings.Join(lossless, ", or ") + ": lossless; or, which changes pixels, " + strings.Join(changing, ", or ")
}

// packings are ways to pack images, now stored in encoding, that make the stage faster.
// None enlarges an image.
func (m *images) packings(encoding, stage string) []packing {
	isRaw := encoding == string(formats.Raw) || encoding == string(formats.RawZstd)
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	shorter := preprocess.Resize{Mode: preprocess.ResizeShorter, W: m.side, H: m.side}
	smaller := m.mostTooLarge()
	switch {
	case stage == "decode" && encoding == string(formats.RawZstd):
		return []packing{m.packing(preprocess.Resize{}, raw, ", without --compress")}
	case stage == "decode" && !isRaw:
		return m.decodedFaster(encoding)
	case stage == "augment" && smaller && isRaw:
		return []packing{m.packing(shorter, raw, "")}
	case stage == "augment" && smaller:
		return []packing{m.packing(shorter, photos(), "")}
	}
	return nil
}

// decodedFaster are ways to pack images that are decoded slowly.
func (m *images) decodedFaster(encoding string) (list []packing) {
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	shorter := preprocess.Resize{Mode: preprocess.ResizeShorter, W: m.side, H: m.side}
	if encoding == string(formats.JPEG) && m.crops && !m.tiled && jpeg.HasLibjpegTurbo {
		list = append(list, m.packing(preprocess.Resize{}, codec.EncodeOptions{Tiled: true, Interval: codec.DefaultInterval}, ""))
	}
	if m.mostTooLarge() {
		list = append(list, m.packing(shorter, photos(), ""))
	}
	switch {
	case m.allLargeEnough() && !m.uniform():
		return append(list, m.packing(preprocess.Resize{Mode: preprocess.ResizeCover, W: m.side, H: m.side}, raw, ""))
	case m.mostTooLarge():
		return append(list, m.packing(shorter, raw, ""))
	}
	return append(list, m.packing(preprocess.Resize{}, raw, ""))
}

// photos is how photos are encoded again.
func photos() codec.EncodeOptions {
	o := codec.EncodeOptions{Encoding: formats.JPEG, Quality: codec.DefaultQuality}
	if jpeg.HasLibjpegTurbo {
		o.Interval = codec.DefaultInterval
	}
	return o
}

func (m *images) packing(r preprocess.Resize, e codec.EncodeOptions, extra string) packing {
	color := m.color
	if m.deep {
		color = pixel.ColorKeep
	}
	p := packing{recipe: preprocess.Recipe{Resize: r, Encode: e, Color: color}}
	if r.Mode != preprocess.ResizeNone {
		p.flags = fmt.Sprintf("--resize %s ", r)
	}
	switch {
	case e.Tiled:
		p.flags += "--encode jpeg-tiled"
		p.recipe.Color = "" // the files stay
	case e.Encoding == formats.JPEG:
		p.flags += fmt.Sprintf("--encode jpeg:%d", e.Quality)
	default:
		p.flags += "--encode " + string(e.Encoding)
	}
	if !e.Tiled && color != pixel.ColorRGB && color != "" {
		p.flags += " --color " + string(color)
	}
	p.flags += extra
	return p
}
