package pixel

import "fmt"

// Filter is a resampling filter, named as in Pillow's Image.Resampling.
type Filter string

// The filters. All but Nearest widen with the scale when shrinking (antialiasing).
const (
	Nearest  Filter = "nearest"
	Box      Filter = "box"
	Bilinear Filter = "bilinear"
	Hamming  Filter = "hamming"
	Bicubic  Filter = "bicubic"
	Lanczos  Filter = "lanczos"
)

// ParseFilter reads the value of --filter.
func ParseFilter(s string) (Filter, error) {
	switch f := Filter(s); f {
	case Nearest, Box, Bilinear, Hamming, Bicubic, Lanczos:
		return f, nil
	}
	return "", fmt.Errorf("filter %q: choose nearest, box, bilinear, hamming, bicubic or lanczos", s)
}
