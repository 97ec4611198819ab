package annotations

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
)

// Picture is the image that annotations are of, as it is stored. Whoever draws boxes sees an image upright, as its EXIF
// orientation says; a program that ignores EXIF sees it as it is stored.
type Picture struct {
	h, w        int
	Orientation int // 1 to 8; 0 is upright too
	// Upright: the annotations are of the image when it is upright. Values are always of the image as it is stored.
	Upright bool
	err     error // why the header cannot be read
}

// PictureOf reads the header of an image.
func PictureOf(image *formats.Value) Picture {
	_, h, err := codec.Inspect(image.Data)
	return Picture{h: h.H, w: h.W, Orientation: h.Orientation, err: err}
}

// Tells reports whether what has h by w pixels is of the upright image; ok is false if its size does not tell.
func (p *Picture) Tells(h, w int) (upright, ok bool) {
	if p.Orientation < 5 || p.w == p.h || w == h {
		return false, false
	}
	return (w > h) != (p.w > p.h), true
}

// frame is the size of the image as the annotations see it.
func (p *Picture) frame() size {
	if p.Upright && p.Orientation >= 5 {
		return size{int32(p.h), int32(p.w)}
	}
	return size{int32(p.w), int32(p.h)}
}

// stored returns a box as it lies in the stored image.
func (p *Picture) stored(b [4]float32) [4]float32 {
	if !p.Upright {
		return b
	}
	return codec.BoxToStored(b, p.h, p.w, p.Orientation)
}
