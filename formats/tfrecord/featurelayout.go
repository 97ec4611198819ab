package tfrecord

import (
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// feature is a feature that every example has, if required, or may have.
type feature struct {
	name string
	kind listKind
	// payload appends the feature's value to b, or returns it in data without copying; ok is
	// false if the sample lacks the feature.
	payload func(b []byte, s *formats.Sample) (small, data []byte, ok bool)
	// set stores the payload in s; nil if the manifest has the value. With lend it
	// keeps payload, else it copies.
	set func(s *formats.Sample, payload []byte, lend bool) error
	// required: every example has the feature.
	required bool
}

// layoutOf lists the features of the dataset's samples, sorted by name.
func layoutOf(m *formats.Meta) []feature {
	img, lab := m.Schema.ImageIndex(), m.Schema.LabelIndex()
	fs := []feature{filename, key, split}
	for i, f := range m.Schema {
		switch {
		case i == img:
			fs = append(fs, pixels(i, "image/encoded", "image/format", "image/dtype")...)
			fs = append(fs, dimension(i, 0, "image/height"), dimension(i, 1, "image/width"), dimension(i, 2, "image/channels"))
		case i == lab && f.Kind == formats.Label:
			fs = append(fs, label(i, "image/class/label"), className(i, f.Classes))
		default:
			fs = append(fs, extraFeatures(i, f.Kind, "field/"+f.Name)...)
		}
	}
	for j, name := range m.Columns {
		// Protobuf parsers require a map's keys to be valid UTF-8.
		fs = append(fs, column(j, "column/"+strings.ToValidUTF8(name, "\ufffd")))
	}
	slices.SortStableFunc(fs, func(a, b feature) int { return strings.Compare(a.name, b.name) })
	return fs
}

func extraFeatures(i int, k formats.Kind, name string) []feature {
	switch k {
	case formats.Image, formats.Mask:
		return append(pixels(i, name, name+"/format", name+"/dtype"), shape(i, name+"/shape"))
	case formats.Boxes:
		return []feature{floats(i, name)}
	case formats.Label:
		return []feature{label(i, name)}
	case formats.Number:
		return []feature{number(i, name)}
	case formats.MultiHot:
		return []feature{multiHot(i, name)}
	case formats.Array:
		return append(tensor(i, name), shape(i, name+"/shape"))
	}
	return []feature{plain(i, name)}
}

// derived is a bytes feature that only other programs read.
func derived(name string, of func(s *formats.Sample) string) feature {
	return feature{name: name, kind: bytesList, payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
		v := of(s)
		return append(b, v...), nil, v != ""
	}}
}

var (
	filename = derived("image/filename", func(s *formats.Sample) string {
		if s.Source.Path == "" {
			return s.Key
		}
		return s.Source.Path
	})
	key = derived("image/key", func(s *formats.Sample) string {
		if p := s.Source.Path; p == "" || strings.TrimSuffix(p, path.Ext(p)) == s.Key {
			return ""
		}
		return s.Key
	})
	split = derived("split", func(s *formats.Sample) string { return s.Split })
)

func className(i int, classes []string) feature {
	return derived("image/class/text", func(s *formats.Sample) string {
		if x, _ := s.Values[i].Int64(); x >= 0 && x < int64(len(classes)) {
			return classes[x]
		}
		return ""
	})
}

func column(j int, name string) feature {
	f := derived(name, nil)
	f.payload = func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
		return append(b, s.Columns[j]...), nil, true
	}
	return f
}
