package annotations

import (
	"fmt"
	"strconv"
	"strings"
)

// size is the width and the height of the image that annotations were made for, 0 if they do not say it.
type size struct{ w, h int32 }

// pixels is a width or a height as a tool wrote it: a number, a text, or nonsense, which is 0.
type pixels int32

func (p *pixels) UnmarshalJSON(b []byte) error {
	*p = parsePixels(strings.Trim(string(b), `"`))
	return nil
}

func parsePixels(text string) pixels {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x > 0 && x < 1<<31-1) {
		return 0
	}
	return pixels(x)
}

// check compares the size with that of the image. Annotations of another size are a warning, and an error if a box lies
// outside of the image by more than a pixel.
func (s size) check(p *Picture, list []Object) (warning string, err error) {
	is := p.frame()
	if s.w == 0 || s.h == 0 || p.err != nil || s == is { // decoding the image returns the error
		return "", nil
	}
	warning = fmt.Sprintf("the boxes are for an image of %dx%d pixels, and this one has %dx%d", s.w, s.h, is.w, is.h)
	for i := range list {
		b := list[i].box
		if min(b[0], b[1]) < -1 || b[2] > float32(is.w+1) || b[3] > float32(is.h+1) {
			return "", fmt.Errorf("%s: the box %v is outside of it; scale the boxes as the images were, or give the images that they were made for", warning, b)
		}
	}
	return warning + ": they may be at other places", nil
}
