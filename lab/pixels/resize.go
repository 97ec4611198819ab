package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// resize scales an image of random pixels from one size, written WxH, to another, bilinear.
func resize(from, to string, times int) (pass, result, error) {
	w, h, err := parseSize(from)
	if err != nil {
		return nil, result{}, err
	}
	toW, toH, err := parseSize(to)
	if err != nil {
		return nil, result{}, err
	}
	var src, dst pixel.Image
	src.Reset(h, w, 3, formats.Uint8)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range src.Pix {
		src.Pix[i] = byte(random.Uint32())
	}
	var resampler resample.Resampler
	r := result{Images: times}
	return func() (result, error) {
		for range times {
			if err := resampler.Resize(&dst, &src, pixel.Rect{}, toW, toH, pixel.Bilinear); err != nil {
				return r, err
			}
		}
		return r, nil
	}, r, nil
}

func parseSize(s string) (w, h int, err error) {
	if _, err := fmt.Sscanf(s, "%dx%d", &w, &h); err != nil {
		return 0, 0, fmt.Errorf("size %q: write WxH: %w", s, err)
	}
	return w, h, nil
}
