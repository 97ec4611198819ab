package shard

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/npy"
)

// columns is the index of the slot that holds the user's columns instead of a field.
const columns = -1

// slot is a member that a sample has or, where optional, may have.
type slot struct {
	field int // in the schema
	// suffix follows the sample's name; an image's lacks the encoding's extension.
	suffix   string
	kind     formats.Kind
	optional bool
	headers  *npy.Parser // of raw values
}

// layoutOf lists the members of every sample of the dataset in their order.
func layoutOf(m *formats.Meta) ([]slot, error) {
	img, lab := m.Schema.ImageIndex(), m.Schema.LabelIndex()
	if img < 0 {
		return nil, fmt.Errorf("%w: no field of kind image", formats.ErrSchema)
	}
	slots := []slot{{field: img, kind: formats.Image}}
	if lab >= 0 && m.Schema[lab].Kind == formats.Label {
		slots = append(slots, slot{field: lab, suffix: ".cls", kind: formats.Label, optional: true})
	} else {
		lab = -1
	}
	if len(m.Columns) > 0 {
		slots = append(slots, slot{field: columns, suffix: ".json", kind: formats.JSON})
	}
	seen := map[string]bool{}
	for i, f := range m.Schema {
		// WebDataset makes the names of fields lower case.
		name := strings.ToLower(f.Name)
		if seen[name] {
			return nil, fmt.Errorf("%w: two fields are called %q but for case, which WebDataset ignores", formats.ErrSchema, name)
		}
		seen[name] = true
		if i != img && i != lab {
			s := slot{field: i, suffix: "." + f.Name + extension(f.Kind), kind: f.Kind, optional: f.Kind == formats.Label}
			slots = append(slots, s)
		}
	}
	for i := range slots {
		slots[i].headers = new(npy.Parser)
	}
	return slots, nil
}

// extension is that of a member of the kind; an image's follows from its encoding.
func extension(k formats.Kind) string {
	switch k {
	case formats.Image, formats.Mask:
		return ""
	case formats.Label:
		return ".cls"
	case formats.Text:
		return ".txt"
	case formats.JSON:
		return ".json"
	case formats.Bytes:
		return ".bin"
	}
	return ".npy"
}

// match says whether a member whose name goes on with rest is the slot's, and with which
// encoding.
func (s *slot) match(rest []byte) (formats.Encoding, bool) {
	if s.kind == formats.Image || s.kind == formats.Mask {
		if len(rest) < len(s.suffix) || string(rest[:len(s.suffix)]) != s.suffix {
			return "", false
		}
		for _, e := range encodings {
			if string(rest[len(s.suffix):]) == e.Extension() {
				return e, true
			}
		}
		return "", false
	}
	if string(rest) != s.suffix {
		return "", false
	}
	switch s.kind {
	case formats.Text, formats.JSON, formats.Bytes:
		return formats.Plain, true
	}
	return formats.Raw, true
}

var encodings = []formats.Encoding{
	formats.JPEG, formats.PNG, formats.Raw, formats.RawZstd, formats.BMP, formats.GIF, formats.TIFF, formats.WebP,
}
