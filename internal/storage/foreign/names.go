package foreign

import (
	"cmp"
	"slices"
)

// FieldName returns name without what the name of a field may not have.
func FieldName(name string) string {
	out := []byte(name[:min(len(name), 64)])
	for i, c := range out {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		default:
			out[i] = '_'
		}
	}
	return cmp.Or(string(out), "_")
}

// IsMask reports whether an image of that name has pixels to predict.
func IsMask(name string) bool {
	return slices.Contains([]string{"mask", "masks", "seg", "segmentation", "semantic", "panoptic"}, name)
}
