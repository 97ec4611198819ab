package resample

import (
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Erase overwrites the rectangle r of the image that was written to t, whose Region is set. It
// calls value for each element of channel 0, row by row, then of channel 1 and so on, whatever the
// layout. Values are rounded to t's type; for integers they are truncated and clipped to its
// range.
func (t *Target) Erase(r pixel.Rect, value func(channel int) float32) error {
	if !r.Inside(t.Region.W, t.Region.H) {
		return fmt.Errorf("erase %+v of %dx%d", r, t.Region.W, t.Region.H)
	}
	s := t.Spec
	switch s.dtype {
	case formats.Uint8:
		erase(t.Uint8, t, r, func(k int) uint8 { return uint8(min(max(value(k), 0), math.MaxUint8)) })
	case formats.Uint16:
		erase(t.Half, t, r, func(k int) uint16 { return uint16(min(max(value(k), 0), math.MaxUint16)) })
	case formats.Float32:
		erase(t.Float32, t, r, value)
	default:
		erase(t.Half, t, r, func(k int) uint16 { return uint16(s.round(value(k))) })
	}
	return nil
}

func erase[T any](dst []T, t *Target, r pixel.Rect, value func(channel int) T) {
	c, w, h := t.Spec.c, t.Region.W, t.Region.H
	for k := range c {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				at := (y*w+x)*c + k
				if t.Spec.layout == pixel.NCHW {
					at = (k*h+y)*w + x
				}
				dst[at] = value(k)
			}
		}
	}
}
