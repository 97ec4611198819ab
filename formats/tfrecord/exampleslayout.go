package tfrecord

import (
	"fmt"
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
	fields   []int // the feature of each field
	columns  []string
	texts    []int // the feature of each column
	label    int   // -1 if there is none; also the position of class names
	class    int   // the feature with the class's name; -1 if labels are numbers
	offset   offset
	filename int            // -1 if there is none
	hot      tfexample.Kind // of the list of a label with 0 or 1 for each class
	shape    [3]int         // features with height, width, channels of raw pixels; -1 if there are none
}

// offset is what is added to a label.
type offset int

const (
	undecided offset = 1 // 0 or -1, by the numbers that occur
	asIs      offset = 0
	minusOne  offset = -1
)

// The usual names of features, the most specific ones first.
var (
	imageNames    = []string{"image/encoded", "image", "image_raw", "img_raw", "img", "image_bytes", "jpeg", "png", "jpg", "encoded"}
	labelNames    = []string{"image/class/label", "label", "class", "class_id", "cls", "target", "y", "labels", "image/label"}
	filenameNames = []string{"image/filename", "filename", "file_name", "image/filepath"}
	// described are the features that only say of the image what its bytes say too.
	described = []string{"image/height", "image/width", "image/channels", "image/format", "image/colorspace"}
)

const (
	classLabel  = "image/class/label"
	classSynset = "image/class/synset"
	classText   = "image/class/text"
)

func newLayout(s *survey, m map[string]string, d *tfds) (*layout, error) {
	l := &layout{numbers: map[string]int{}, label: -1, class: -1, filename: -1, shape: [3]int{-1, -1, -1}}
	image, err := s.image(m["image"], d)
	if err != nil {
		return nil, err
	}
	used := append([]string{image}, described...)
	l.field(formats.Field{Name: "image", Kind: formats.Image}, image)
	used = append(used, l.findShape(s, image)...)
	more, err := l.findLabel(s, m["label"], d)
	if err != nil {
		return nil, err
	}
	used = append(used, more...)
	if i := slices.IndexFunc(filenameNames, func(name string) bool { return s.has(name, tfexample.Bytes) }); i >= 0 {
		l.filename, used = l.number(filenameNames[i]), append(used, filenameNames[i])
	}
	if err := l.mapped(s, m, d, &used); err != nil {
		return nil, err
	}
	for _, name := range s.names() {
		if !slices.Contains(used, name) {
			free := foreign.FreeName(foreign.FieldName(name), func(try string) bool { return l.schema.Index(try) >= 0 || m[try] != "" })
			l.field(foreign.ExtraField(l.schema, s.field(free, name, d)), name)
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
	l.schema, l.fields = append(l.schema, f), append(l.fields, l.number(feature))
}

// usualFirst lists the features that TFDS says have a role, those with usual names before the others, and then the
// usual names themselves.
func usualFirst(told, usual []string) (names []string) {
	for _, name := range usual {
		if slices.Contains(told, name) {
			names = append(names, name)
		}
	}
	return slices.Concat(names, told, usual)
}

// image returns the name of the feature with the image.
func (s *survey) image(mapped string, d *tfds) (string, error) {
	if mapped != "" {
		return mapped, s.mustHave("image", mapped)
	}
	of := func(name string) bool {
		return s.has(name, tfexample.Bytes) && (s.features[name].images > 0 || s.hasShape(name))
	}
	for _, name := range usualFirst(d.named("Image"), imageNames) {
		if of(name) {
			return name, nil
		}
	}
	var found []string
	for _, name := range s.names() {
		if s.has(name, tfexample.Bytes) && s.features[name].images > 0 {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(s.features) == 0 {
			return "", fmt.Errorf("%w: its examples have no features; SequenceExamples, whose frames are lists of features, are not read", formats.ErrSchema)
		}
		return "", fmt.Errorf("%w: no feature has images (image files, or pixels with the features height and width): it has %s; "+
			"name the feature: --map image=FEATURE", formats.ErrSchema, s.list())
	}
	return "", fmt.Errorf("%w: the features %s have images; say which is the image: --map image=%s", formats.ErrSchema, strings.Join(found, ", "), found[0])
}

func (s *survey) mustHave(field, feature string) error {
	if s.features[feature] == nil {
		return fmt.Errorf("%w: the map has %s=%s, but the first examples have no such feature, but %s", formats.ErrSchema, field, feature, s.list())
	}
	return nil
}

// shapeNames returns the features that may have the shape of the pixels in a feature.
func shapeNames(feature string) [3][]string {
	prefix := feature[:strings.LastIndexByte(feature, '/')+1]
	of := func(names ...string) []string {
		if prefix == "" {
			return append(names, "image/"+names[0])
		}
		return []string{prefix + names[0], names[0]}
	}
	return [3][]string{of("height", "rows"), of("width", "cols"), append(of("channels"), "depth")}
}

// hasShape reports whether other features say the shape of the pixels in a feature.
func (s *survey) hasShape(feature string) bool {
	names := shapeNames(feature)
	for _, axis := range names[:2] {
		if !slices.ContainsFunc(axis, func(name string) bool { return s.has(name, tfexample.Ints) }) {
			return false
		}
	}
	return true
}

// findShape finds the features with the shape of the image, if it is pixels.
func (l *layout) findShape(s *survey, image string) (used []string) {
	if s.features[image].images > 0 || !s.hasShape(image) {
		return nil
	}
	for axis, names := range shapeNames(image) {
		if i := slices.IndexFunc(names, func(name string) bool { return s.has(name, tfexample.Ints) }); i >= 0 {
			l.shape[axis], used = l.number(names[i]), append(used, names[i])
		}
	}
	return used
}

// findLabel finds the label.
func (l *layout) findLabel(s *survey, mapped string, d *tfds) (used []string, err error) {
	name, shift := mapped, undecided
	if s.features[name] == nil {
		if n, ok := strings.CutSuffix(name, "-1"); ok {
			name, shift = n, minusOne
		} else if n, ok := strings.CutSuffix(name, "+0"); ok {
			name, shift = n, asIs
		}
	}
	if mapped != "" {
		if err := s.mustHave("label", name); err != nil {
			return nil, err
		}
	} else {
		candidates := usualFirst(d.named("ClassLabel"), labelNames)
		i := slices.IndexFunc(candidates, func(name string) bool {
			return s.has(name, tfexample.Ints) || s.has(name, tfexample.Floats) || s.has(name, tfexample.Bytes) && s.features[name].images == 0 || s.isHot(name)
		})
		if i < 0 {
			return nil, nil
		}
		name = candidates[i]
	}
	f := s.features[name]
	if s.isHot(name) {
		classes := d.classes(name)
		if len(classes) != f.most {
			classes = foreign.Numbered(f.most)
		}
		l.hot = f.kind
		l.field(formats.Field{Name: "label", Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{f.most}, Classes: classes}, name)
		return []string{name}, nil
	}
	if f.most > 1 {
		return nil, fmt.Errorf("%w: the feature %s has up to %d values: a label is one, or 0 and 1 for each class; give the field another name: --map NAME=%s",
			formats.ErrSchema, name, f.most, name)
	}
	if f.kind == tfexample.Floats {
		l.field(formats.Field{Name: "label", Kind: formats.Number}, name)
		return []string{name}, nil
	}
	l.label, l.offset = l.number(name), asIs
	var classes []string
	switch {
	case f.kind == tfexample.Bytes:
		l.class = l.label
	case len(d.classes(name)) > 0:
		classes = d.classes(name)
	case name == classLabel && shift == undecided && s.always(classSynset):
		l.class = l.number(classSynset)
	case name == classLabel && shift == undecided && s.always(classText):
		l.class = l.number(classText)
	case name == classLabel || shift != undecided:
		l.offset = shift
	}
	l.field(formats.Field{Name: "label", Kind: formats.Label, Classes: classes}, name)
	used = []string{name}
	for _, c := range []struct{ feature, column string }{{classSynset, "synset"}, {classText, "text"}} {
		if s.has(c.feature, tfexample.Bytes) {
			l.columns, l.texts, used = append(l.columns, c.column), append(l.texts, l.number(c.feature)), append(used, c.feature)
		}
	}
	return used, nil
}

// isHot reports whether the feature has a list of 0 and 1 for several classes, in every example that has it.
func (s *survey) isHot(name string) bool {
	e := s.features[name]
	return e != nil && e.hot && e.least > 1 && e.least == e.most && e.most <= maxClasses
}

// always reports whether every example has a text in the feature.
func (s *survey) always(name string) bool {
	return s.has(name, tfexample.Bytes) && s.features[name].present == s.examples && !s.features[name].empty
}

// mapped adds the other fields of a map.
func (l *layout) mapped(s *survey, m map[string]string, d *tfds, used *[]string) error {
	var names []string
	for name := range m {
		if name != "image" && name != "label" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		feature := m[name]
		if err := s.mustHave(name, feature); err != nil {
			return err
		}
		f := s.field(name, feature, d)
		switch e := s.features[feature]; {
		case name == "mask" && f.Kind == formats.Image:
			f.Kind = formats.Mask
		case (name == "caption" || name == "text") && f.Kind == formats.Bytes:
			f.Kind = formats.Text
		case name == "boxes" && e.kind == tfexample.Floats:
			f = formats.Field{Name: name, Kind: formats.Boxes}
		}
		l.field(foreign.ExtraField(l.schema, f), feature)
		*used = append(*used, feature)
	}
	return nil
}

// field returns the field for a feature that has no role.
func (s *survey) field(name, feature string, d *tfds) formats.Field {
	f := formats.Field{Name: name}
	switch e := s.features[feature]; {
	case e.kind == tfexample.Ints:
		f.Kind, f.DType = formats.Array, formats.Int64
	case e.kind == tfexample.Floats && e.least == 1 && e.most == 1:
		f.Kind = formats.Number
	case e.kind == tfexample.Floats:
		f.Kind, f.DType = formats.Array, formats.Float32
	case e.most > 1:
		f.Kind = formats.JSON
	case e.images > 0 && foreign.IsMask(name) && !e.lossy:
		f.Kind = formats.Mask
	case e.images > 0:
		f.Kind = formats.Image
	case slices.Contains(d.named("Text"), feature):
		f.Kind = formats.Text
	default:
		f.Kind = formats.Bytes
	}
	return f
}
