package hostile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Side is the side of the largest square within pixel.DefaultMaxPixels.
const Side = 13377

// smaller is the side of squares of which many can be decoded in a short time, though each takes
// more memory than its share of the budget.
const smaller = 5000

// Images are files by name, of all image formats. No file is larger than 2 MB; most have a few bytes.
func Images() map[string][]byte {
	m := map[string][]byte{
		"wide-million.png":   PNG(1_000_000, 1, 8, Gray),
		"wide-rgb.png":       PNG(10_000_000, 1, 8, RGB),
		"wide-alpha.png":     PNG(5_000_000, 1, 8, RGBA),
		"wide-16.png":        PNG(5_000_000, 1, 16, Gray),
		"widest.png":         PNG(178_000_000, 1, 8, Gray),
		"tall.png":           PNG(1, 2_000_000, 8, Gray),
		"square-gray.png":    PNG(smaller, smaller, 8, Gray),
		"square-bits.png":    PNG(smaller, smaller, 1, Gray),
		"square-rgb.png":     PNG(Side, Side, 8, RGB),
		"square-rgba.png":    PNG(smaller, smaller, 8, RGBA),
		"square-16.png":      PNG(Side, Side, 16, RGBA),
		"square-palette.png": PNG(smaller, smaller, 1, palette),
		"strip.tif":          TIFF(Side, Side, 8*Side*Side),
		"honest.tif":         TIFF(smaller, smaller, smaller*smaller),
		"runs.bmp":           bmp(smaller, smaller),
		"lossless.webp":      WebP(16383, 10900),
	}
	for i := range 4 {
		m[fmt.Sprintf("canvas-%d.gif", i)] = GIF(Side, Side)
	}
	for i := range 10 { // each width has resampling weights of its own
		m[fmt.Sprintf("wide-%02d.png", i)] = PNG(4_300_000+i, 1, 8, Gray)
	}
	return m
}

// Write writes the images into dir.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, b := range Images() {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
