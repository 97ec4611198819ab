package tfrecord

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// layout says which features the fields and the other parts of samples come from. Features are numbered by
// their position in names.
type layout struct {
	names    []string       // of the features that are read
	numbers  map[string]int // their positions
	schema   formats.Schema
	fields   []source // of each field
	columns  []string
	texts    []int // the feature of each column
	label    int   // -1 if there is none; also the position of class names
	class    int   // the feature with the class's name; -1 if labels are numbers
	shift    int64 // what is added to a label
	unclear  bool  // the labels may count from 1
	filename int   // -1 if there is none
}

// source is where the values of a field are.
type source struct {
	feature int
	as      string         // of foreign.FieldSource
	kind    tfexample.Kind // of the feature's list
}

// The usual names of features, the most specific ones first.
var (
	imageNames    = []string{"image/encoded", "image", "image_raw", "img_raw", "img", "image_bytes", "jpeg", "png", "jpg", "encoded"}
	labelNames    = []string{classLabel, "label", "class", "class_id", "cls", "target", "y", "labels", "image/label"}
	filenameNames = []string{"image/filename", "filename", "file_name", "image/filepath"}
	// described are the features that only say of the image what its bytes say too.
	described = []string{"image/height", "image/width", "image/channels", "image/format", "image/colorspace"}
)

const (
	classLabel  = "image/class/label"
	classSynset = "image/class/synset"
	classText   = "image/class/text"
)

func newLayout(s *survey, m map[string]string) (*layout, error) {
	l := &layout{numbers: map[string]int{}, label: -1, class: -1, filename: -1}
	image, err := s.image(m["image"])
	if err != nil {
		return nil, err
	}
	l.field(formats.Field{Name: "image", Kind: formats.Image}, image)
	more, err := l.findLabel(s, m["label"])
	if err != nil {
		return nil, err
	}
	used := slices.Concat([]string{image}, described, more)
	if i := slices.IndexFunc(filenameNames, func(name string) bool { return s.has(name, tfexample.Bytes) }); i >= 0 {
		l.filename, used = l.number(filenameNames[i]), append(used, filenameNames[i])
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == "image" || name == "label" {
			continue
		}
		if err := l.mapped(s, name, m[name]); err != nil {
			return nil, err
		}
		used = append(used, m[name])
	}
	for _, name := range s.names() {
		if !slices.Contains(used, name) {
			free := foreign.FreeName(foreign.FieldName(name), func(try string) bool { return l.schema.Index(try) >= 0 || m[try] != "" })
			l.field(foreign.ExtraField(l.schema, s.field(free, name)), name)
		}
	}
	if err := l.schema.Validate(); err != nil {
		return nil, fmt.Errorf("%w; give one of the features another name: map NAME=FEATURE", err)
	}
	return l, nil
}

// number returns the number of a feature.
func (l *layout) number(name string) int {
	n, ok := l.numbers[name]
	if !ok {
		n = len(l.names)
		l.numbers[name], l.names = n, append(l.names, name)
	}
	return n
}

func (l *layout) field(f formats.Field, feature string) {
	from := source{feature: l.number(feature), kind: tfexample.Bytes}
	switch {
	case len(l.schema) == 0:
		from.as = asFrame + feature
	case f.Kind == formats.Number:
		from.as, from.kind = asNumber, tfexample.Floats
	case f.Kind == formats.Boxes:
		from.as, from.kind = asBoxes, tfexample.Floats
	case f.Kind == formats.JSON:
		from.as = asTexts
	case f.Kind == formats.Text:
		from.as = asText
	case f.Kind == formats.Array && f.DType == formats.Int64:
		from.as, from.kind = asInts, tfexample.Ints
	case f.Kind == formats.Array:
		from.as, from.kind = asFloats, tfexample.Floats
	}
	l.schema, l.fields = append(l.schema, f), append(l.fields, from)
}

// image returns the name of the feature with the image.
func (s *survey) image(mapped string) (string, error) {
	if mapped != "" {
		return mapped, s.mustHave("image", mapped)
	}
	if i := slices.IndexFunc(imageNames, s.hasImage); i >= 0 {
		return imageNames[i], nil
	}
	found := slices.DeleteFunc(s.names(), func(name string) bool { return !s.hasImage(name) })
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: the features %s have images; say which is the image: --map image=%s", formats.ErrSchema, strings.Join(found, ", "), found[0])
	case len(s.features) == 0:
		return "", fmt.Errorf("%w: its examples have no features; SequenceExamples, whose frames are lists of features, are not read", formats.ErrSchema)
	}
	return "", fmt.Errorf("%w: no feature has image files: it has %s; name the feature: --map image=FEATURE; if it has pixels, %s", formats.ErrSchema, s.list(), foreign.FromPython)
}

// findLabel finds the label.
func (l *layout) findLabel(s *survey, mapped string) (used []string, err error) {
	name := mapped
	if s.features[name] == nil {
		if n, ok := strings.CutSuffix(name, "-1"); ok {
			name, l.shift = n, -1
		} else {
			name = strings.TrimSuffix(name, "+0")
		}
	}
	if mapped != "" {
		if err := s.mustHave("label", name); err != nil {
			return nil, err
		}
	} else {
		i := slices.IndexFunc(labelNames, func(name string) bool {
			return s.has(name, tfexample.Ints) || s.has(name, tfexample.Floats) || s.has(name, tfexample.Bytes) && !s.hasImage(name)
		})
		if i < 0 {
			return nil, nil
		}
		name = labelNames[i]
	}
	f := s.features[name]
	if f.most > 1 {
		return nil, fmt.Errorf("%w: the feature %s has up to %d values, and a label is one; give the field another name: --map NAME=%s", formats.ErrSchema, name, f.most, name)
	}
	if f.kind == tfexample.Floats {
		l.field(formats.Field{Name: "label", Kind: formats.Number}, name)
		return []string{name}, nil
	}
	l.label = l.number(name)
	switch {
	case f.kind == tfexample.Bytes:
		l.class = l.label
	case name != classLabel || name != cmp.Or(mapped, name): // the map says it
	case s.always(classSynset):
		l.class = l.number(classSynset)
	case s.always(classText):
		l.class = l.number(classText)
	default:
		l.unclear = true
	}
	l.field(formats.Field{Name: "label", Kind: formats.Label}, name)
	used = []string{name}
	for _, c := range []struct{ feature, column string }{{classSynset, "synset"}, {classText, "text"}} {
		if s.has(c.feature, tfexample.Bytes) {
			l.columns, l.texts, used = append(l.columns, c.column), append(l.texts, l.number(c.feature)), append(used, c.feature)
		}
	}
	return used, nil
}

// mapped adds another field of a map.
func (l *layout) mapped(s *survey, name, feature string) error {
	if err := s.mustHave(name, feature); err != nil {
		return err
	}
	f := s.field(name, feature)
	switch {
	case name == "mask" && f.Kind == formats.Image:
		f.Kind = formats.Mask
	case (name == "caption" || name == "text") && f.Kind == formats.Bytes:
		f.Kind = formats.Text
	case name == "boxes" && s.features[feature].kind == tfexample.Floats:
		f = formats.Field{Name: name, Kind: formats.Boxes}
	}
	l.field(foreign.ExtraField(l.schema, f), feature)
	return nil
}
