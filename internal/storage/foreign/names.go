package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// reserved are the names that a sample has for something else: a field of the source that is called so gets another one.
var reserved = []string{"image", "label", "index", "key"}

// FreeName returns name, or one like it that is neither taken nor reserved.
func FreeName(name string, isTaken func(name string) bool) string {
	try := name
	for n := 2; slices.Contains(reserved, try) || isTaken(try); n++ {
		try = fmt.Sprintf("%.58s_%d", name, n)
	}
	return try
}

// words are those of a name.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_./ ", r) })
}

// IsMask reports whether an image of that name has pixels to predict: a word of it says so.
func IsMask(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool {
		return slices.Contains([]string{"mask", "masks", "seg", "segmentation", "semantic", "panoptic"}, word)
	})
}

// SplitOf returns the split that the name of a data file says, "" if it says none: a word of it, perhaps with a number behind,
// as in train00-4; the last one if there are several.
func SplitOf(name string) string {
	for _, word := range slices.Backward(words(name)) {
		if word = strings.TrimRight(word, "0123456789"); formats.IsSplitWord(word) {
			return word
		}
	}
	return ""
}
