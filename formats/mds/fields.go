package mds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

const (
	imageField = "image"
	labelField = "label"
)

// fields are the columns of the fields that are known before the scan.
type fields struct {
	set   *set
	given map[string]int // of a map
	label int            // column, -1 if there is none
}

// Names that people give the columns of the image and of the label.
var (
	imageNames = []string{"image", "img", "x", "pixels", "jpg", "jpeg", "png"}
	labelNames = []string{"label", "labels", "class", "target", "cls", "y"}
)

// choose finds the columns of a map, and that of the label.
func (s *set) choose(m map[string]string) (*fields, error) {
	f := &fields{set: s, given: map[string]int{}, label: -1}
	for field, name := range m {
		k := s.column(name)
		if k < 0 {
			return nil, fmt.Errorf("%w: the map gives %s to the field %s, and there is no such column; there are %s", formats.ErrSchema, name, field, s.names())
		}
		f.given[field] = k
	}
	if k, ok := f.given[labelField]; ok {
		if !s.canLabel(k) {
			return nil, fmt.Errorf("%w: the column %s has the encoding %s, and a label is a whole number, a text or a float", formats.ErrSchema, m[labelField], s.columns[k].encoding)
		}
		f.label = k
		return f, nil
	}
	for _, name := range labelNames {
		if k := s.column(name); k >= 0 && !f.isGiven(k) && s.canLabel(k) {
			f.label = k
			break
		}
	}
	return f, nil
}

func (s *set) column(name string) int {
	return slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
}

func (s *set) names() string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// isGiven reports whether the map gives the column to a field.
func (f *fields) isGiven(column int) bool {
	return slices.Contains(slices.Collect(maps.Values(f.given)), column)
}

// canLabel reports whether a column's values may be labels.
func (s *set) canLabel(column int) bool {
	return slices.Contains([]kind{integer, text, float}, kindOf(s.columns[column].encoding))
}

// layout decides which fields the samples have.
func (f *fields) layout(found *foreign.Found) (*foreign.Layout, error) {
	l := &foreign.Layout{}
	add := func(field formats.Field, column int, as string) {
		l.Schema = append(l.Schema, field)
		l.Fields = append(l.Fields, foreign.FieldSource{Columns: []int{column}, As: as})
	}
	image, err := f.image(found)
	if err != nil {
		return nil, err
	}
	add(formats.Field{Name: imageField, Kind: formats.Image}, image, f.pixels(image))
	if f.label >= 0 {
		if c := f.set.columns[f.label]; kindOf(c.encoding) == float {
			add(formats.Field{Name: labelField, Kind: formats.Number, DType: formats.Float32}, f.label, c.encoding)
		} else {
			l.Schema, l.Fields = append(l.Schema, formats.Field{Name: labelField, Kind: formats.Label}), append(l.Fields, foreign.FieldSource{})
		}
	}
	names := map[int]string{}
	for field, k := range f.given {
		names[k] = field
	}
	for k := range f.set.columns {
		if k == image || k == f.label {
			continue
		}
		name := names[k]
		if name == "" {
			name = foreign.FreeName(foreign.FieldName(f.set.columns[k].name), func(try string) bool {
				_, taken := f.given[try]
				return taken || l.Schema.Index(try) >= 0
			})
		}
		field, as := f.field(name, k, found)
		add(field, k, as)
	}
	return l, nil
}

// pixels is how the column's images are decoded; "" if they are files.
func (f *fields) pixels(column int) string {
	switch c := f.set.columns[column]; kindOf(c.encoding) {
	case picture, array:
		return c.encoding
	}
	return ""
}

// image returns the column of the designated image.
func (f *fields) image(found *foreign.Found) (int, error) {
	if k, ok := f.given[imageField]; ok {
		return k, nil
	}
	isImage := func(k int) bool { return found.Columns[k].Encoded > 0 && k != f.label && !f.isGiven(k) }
	for _, name := range imageNames {
		if k := f.set.column(name); k >= 0 && isImage(k) {
			return k, nil
		}
	}
	for k := range f.set.columns {
		if isImage(k) {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%w: no column has images; there are %s: name the image by a map, such as image=x", formats.ErrSchema, f.set.names())
}

// field describes an extra field.
func (f *fields) field(name string, column int, found *foreign.Found) (formats.Field, string) {
	c, has := f.set.columns[column], found.Columns[column]
	field := formats.Field{Name: name, Kind: formats.Bytes}
	switch kindOf(c.encoding) {
	case encoded, picture:
		field.Kind = formats.Image
		if foreign.IsMask(name) && c.encoding != "jpeg" {
			field.Kind = formats.Mask
		}
		return field, f.pixels(column)
	case text:
		field.Kind = formats.Text
	case jsonText:
		field.Kind = formats.JSON
	case integer:
		field.Kind, field.DType, field.Shape = formats.Array, formats.Int64, []int{}
		return field, c.encoding
	case float:
		field.Kind, field.DType, field.Shape = formats.Array, formats.Float32, []int{}
		return field, c.encoding
	case array:
		if 2*has.Tensors > has.Count && has.DType != "" {
			field.Kind, field.DType, field.Shape = formats.Array, has.DType, has.Shape
			return field, c.encoding
		}
	}
	return field, ""
}
