package foreign

import (
	"cmp"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// ExtraField returns f, a field without a role, as it is added to the fields before it. A number would be the label of a
// dataset that has none, and a training would predict it unasked: there it is an array.
func ExtraField(before formats.Schema, f formats.Field) formats.Field {
	if f.Kind == formats.Number && before.LabelIndex() < 0 {
		f.Kind, f.DType = formats.Array, formats.Float32
	}
	return f
}

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
