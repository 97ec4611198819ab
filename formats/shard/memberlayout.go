package shard

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// columns is slot.field of the member with the user's columns.
const columns = -1

// slot describes a member of the samples; an optional one may be missing.
type slot struct {
	field int // in the schema
	// suffix follows the sample's name; for an image, the encoding's extension comes after it.
	suffix   string
	kind     formats.Kind
	optional bool
	headers  *npy.Parser // of raw values
}

// layoutOf lists the members of every sample of the dataset in order.
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
		// WebDataset converts field names to lower case.
		name := strings.ToLower(f.Name)
		if seen[name] {
			return nil, fmt.Errorf("%w: two fields are named %q if case is ignored, as WebDataset does; rename one", formats.ErrSchema, name)
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

// extension returns the extension of members of the kind; "" for images, whose encoding decides.
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

// match reports whether a member is the slot's, and its encoding. rest is the member's name
// after the sample's name.
func (s *slot) match(rest []byte) (formats.Encoding, bool) {
	if s.kind == formats.Image || s.kind == formats.Mask {
		if len(rest) < len(s.suffix) || string(rest[:len(s.suffix)]) != s.suffix {
			return "", false
		}
		for _, e := range formats.ImageEncodings {
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
