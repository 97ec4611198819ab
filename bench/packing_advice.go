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

// repack advises how to pack the images so that the stage takes less time, and says what that costs.
// It leaves out what does not fit on the disk or, for raw pixels, in memory.
func repack(d *Dataset, m *images, stage string) string {
	if stage == "read" && d.Format == "folder" {
		return "try packing it into another format"
	}
	if m == nil {
		return ""
	}
	var list []string
	for _, p := range m.packings(d.Encoding, stage) {
		if m.deep && p.recipe.Encode.Encoding == formats.JPEG { // it has 8 bits
			continue
		}
		size, ok := m.sizeOf(p.recipe)
		if raw := p.recipe.Encode.Encoding == formats.Raw; !ok || !m.holds(size, d.Disk, raw) {
			continue
		}
		list = append(list, fmt.Sprintf("with %s (about %s MB of images, %s MB on disk now)", p.flags, megabytes(size), megabytes(d.Disk)))
	}
	if len(list) == 0 {
		return ""
	}
	return "try packing " + strings.Join(list, ", or ")
}

// packings are ways to pack images, now stored in encoding, that make the stage faster.
// None enlarges an image.
func (m *images) packings(encoding, stage string) []packing {
	side := m.side
	shorter := preprocess.Resize{Mode: preprocess.ResizeShorter, W: side, H: side}
	cover := preprocess.Resize{Mode: preprocess.ResizeCover, W: side, H: side}
	photos := codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90}
	if jpeg.HasLibjpegTurbo {
		photos.Interval = codec.DefaultInterval
	}
	raw := codec.EncodeOptions{Encoding: formats.Raw}
	isRaw := encoding == string(formats.Raw) || encoding == string(formats.RawZstd)
	smaller := m.mostTooLarge()
	switch {
	case stage == "decode" && encoding == string(formats.RawZstd):
		return []packing{m.packing(preprocess.Resize{}, raw, ", without --compress")}
	case stage == "decode" && isRaw, stage != "decode" && stage != "augment", stage == "augment" && !smaller:
		return nil
	case stage == "augment" && isRaw:
		return []packing{m.packing(shorter, raw, "")}
	case stage == "augment":
		return []packing{m.packing(shorter, photos, "")}
	}
	var list []packing
	if smaller {
		list = append(list, m.packing(shorter, photos, ""))
	}
	switch {
	case m.allLargeEnough() && !m.uniform():
		list = append(list, m.packing(cover, raw, ""))
	case smaller:
		list = append(list, m.packing(shorter, raw, ""))
	default:
		list = append(list, m.packing(preprocess.Resize{}, raw, ""))
	}
	return list
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
	p.flags += "--encode " + string(e.Encoding)
	if e.Encoding == formats.JPEG {
		p.flags = fmt.Sprintf("%s:%d", p.flags, e.Quality)
	}
	if color != pixel.ColorRGB && color != "" {
		p.flags += " --color " + string(color)
	}
	p.flags += extra
	return p
}
