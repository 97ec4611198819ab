package annotations

import (
	"fmt"
	"slices"
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
// outside of the image by more than a pixel. If only such a box tells that they may be of another image, that is a warning.
func (s size) check(p *Picture, list []Object) (warning string, err error) {
	is := p.frame()
	if p.err != nil { // decoding the image returns it
		return "", nil //nolint:nilerr // see above
	}
	at := slices.IndexFunc(list, func(o Object) bool {
		return min(o.box[0], o.box[1]) < -1 || o.box[2] > float32(is.w+1) || o.box[3] > float32(is.h+1)
	})
	known := s.w > 0 && s.h > 0 && s != is
	switch {
	case known && at >= 0:
		return "", fmt.Errorf("%s: the box %v is outside of it; scale the boxes as the images were, or give the images that they were made for", s.other(is), list[at].box)
	case known:
		return s.other(is) + ": they may be at other places", nil
	case at >= 0:
		return fmt.Sprintf("the box %v is outside of the image, which has %dx%d pixels: was it drawn on another one, or on this one turned?", list[at].box, is.w, is.h), nil
	}
	return "", nil
}

// other says that boxes are for another size than that of the image.
func (s size) other(is size) string {
	return fmt.Sprintf("the boxes are for an image of %dx%d pixels, and this one has %dx%d", s.w, s.h, is.w, is.h)
}
