package parquet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// role is a field, or a column of the user's, and the columns of the files that it is read from.
type role struct {
	formats.Field
	column string // name with dots
	path   string // of images: the column with the path; "" if there is none
	named  bool   // the label is a text, the name of its class
}

// roles are what a dataset's columns are.
type roles struct {
	fields  []role // the designated image first, then the designated label
	columns []role
	skipped []formats.Skip // columns that are left out
}

var (
	imageNames = []string{"image", "img"}
	labelNames = []string{"label", "labels", "fine_label"}
	textNames  = []string{"text", "caption", "prompt"}
)

// outline is the columns of a file by name.
type outline struct {
	path     string
	columns  map[string]*parquetfile.Column
	order    []string
	nested   []string // columns of lists and of structs that are no images: they are not read
	images   []string // structs of bytes and path, and columns of bytes that begin with an image file
	features map[string]feature
}

func outlineOf(f *parquetfile.File) *outline {
	o := &outline{path: f.Path, columns: map[string]*parquetfile.Column{}, features: featuresOf(f)}
	list := f.Columns()
	for i := range list {
		if c := &list[i]; !c.IsList() {
			o.columns[c.Name()] = c
			o.order = append(o.order, c.Name())
		}
	}
	for _, name := range o.order {
		column, ok := strings.CutSuffix(name, ".bytes")
		if ok && len(o.columns[name].Path) == 2 && o.isBytes(name) && o.columns[column+".path"] != nil && !o.isOtherMedia(column) {
			o.images = append(o.images, column)
		}
	}
	for i := range list {
		if c := &list[i]; len(c.Path) == 1 && !c.IsList() && c.Type == parquetfile.ByteArray && !c.Text && beginsWithImage(f, i) {
			o.images = append(o.images, c.Name())
		}
	}
	for i := range list {
		name := list[i].Path[0]
		if (list[i].IsList() || len(list[i].Path) > 1) && !slices.Contains(slices.Concat(o.images, o.nested), name) {
			o.nested = append(o.nested, name)
		}
	}
	return o
}

func (o *outline) isBytes(column string) bool {
	c := o.columns[column]
	return c != nil && c.Type == parquetfile.ByteArray
}

// isOtherMedia reports whether the struct is of sounds or films, which have the same columns.
func (o *outline) isOtherMedia(column string) bool {
	t := o.features[column].Type
	return t != "" && t != "Image"
}

// roles finds what the columns are.
func (o *outline) roles(m map[string]string) (*roles, error) {
	r, used := &roles{}, map[string]bool{}
	image, label := o.designated(m)
	if image == "" {
		return nil, fmt.Errorf("%s: %w: no column is a struct of bytes and path, as images of datasets are; it has %s: choose one of bytes with --map image=COLUMN",
			o.path, formats.ErrSchema, strings.Join(o.order[:min(20, len(o.order))], ", "))
	}
	add := func(name, column string) error {
		f, err := o.field(name, column)
		if err == nil && name == "label" && f.Kind == formats.Text {
			f.Kind, f.named = formats.Label, true
		}
		if err == nil && (name == "image" && f.Kind != formats.Image || name == "label" && !f.Kind.IsLabel()) {
			err = fmt.Errorf("%s: %w: the column %s is a %s: it cannot be the field %s", o.path, formats.ErrSchema, column, f.Kind, name)
		}
		if err != nil {
			return err
		}
		used[column] = true
		r.fields = append(r.fields, f)
		return nil
	}
	if err := add("image", image); err != nil {
		return nil, err
	}
	if label != "" {
		if err := add("label", label); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == "image" || name == "label" {
			continue
		}
		if err := add(name, m[name]); err != nil {
			return nil, err
		}
	}
	return r, o.others(r, used, len(m) == 0)
}

// designated returns the columns of the image and the label.
func (o *outline) designated(m map[string]string) (image, label string) {
	choose := func(field string, usual, all []string) string {
		if name, ok := m[field]; ok {
			return name
		}
		for _, name := range usual {
			if slices.Contains(all, name) {
				return name
			}
		}
		return ""
	}
	if image = choose("image", imageNames, o.images); image == "" && len(o.images) > 0 {
		image = o.images[0]
	}
	var classes, numbers, others []string
	for _, name := range o.order {
		switch c := o.columns[name]; {
		case len(c.Path) > 1:
		case c.Type == parquetfile.Int64, c.Type == parquetfile.Int32:
			if numbers = append(numbers, name); o.features[name].Type == "ClassLabel" {
				classes = append(classes, name)
			}
		case c.Text, c.Type == parquetfile.Float, c.Type == parquetfile.Double, c.Type == parquetfile.Boolean:
			others = append(others, name)
		}
	}
	if label = choose("label", labelNames, classes); label == "" && len(classes) > 0 {
		label = classes[0]
	}
	if label == "" {
		label = choose("label", labelNames, numbers)
	}
	if label == "" {
		label = choose("label", labelNames, others)
	}
	return image, label
}

// field returns the field of that name with the values of a column.
func (o *outline) field(name, column string) (role, error) {
	f := role{Field: formats.Field{Name: name}, column: column}
	c := o.columns[column]
	switch {
	case slices.Contains(o.images, column):
		if f.Kind = formats.Image; o.columns[column] == nil {
			f.column, f.path = column+".bytes", column+".path"
		}
		if foreign.IsMask(name) {
			f.Kind = formats.Mask
		}
	case slices.Contains(o.nested, column):
		return f, fmt.Errorf("%s: %w: the column %s cannot be the field %s: %s", o.path, formats.ErrSchema, column, name, isNested)
	case c == nil:
		return f, fmt.Errorf("%s: %w: there is no column %q for the field %s; it has %s", o.path, formats.ErrSchema, column, name, strings.Join(o.order[:min(20, len(o.order))], ", "))
	case c.Type == parquetfile.ByteArray && name == "image":
		f.Kind = formats.Image
	case c.Type == parquetfile.ByteArray && c.Text:
		f.Kind = formats.Text
	case c.Type == parquetfile.ByteArray:
		f.Kind = formats.Bytes
	case c.Type == parquetfile.Float || c.Type == parquetfile.Double:
		f.Kind = formats.Number
	case c.Type == parquetfile.Boolean:
		f.Kind, f.Classes = formats.Label, []string{"false", "true"}
	case c.Type == parquetfile.Int32 || c.Type == parquetfile.Int64:
		f.Kind, f.Classes = formats.Label, o.features[column].Names
	default:
		return f, fmt.Errorf("%s: %w: the column %s has Parquet's type %d, which is not read", o.path, formats.ErrSchema, column, c.Type)
	}
	return f, nil
}

// others adds the columns that are not used: as fields if extra is true and they are images, labels or captions, else
// as the user's columns.
func (o *outline) others(r *roles, used map[string]bool, extra bool) error {
	for _, name := range o.images {
		if extra && !used[name] {
			f, err := o.field(r.free(name), name)
			if err != nil {
				return err
			}
			r.fields = append(r.fields, f)
		}
	}
	for _, name := range o.order {
		c := o.columns[name]
		if used[name] || len(c.Path) > 1 || slices.Contains(o.images, name) {
			continue
		}
		isField := o.features[name].Type == "ClassLabel" || slices.Contains(textNames, name) && c.Type == parquetfile.ByteArray
		f, err := o.field(r.free(name), name)
		switch {
		case err != nil:
			r.skip(name, "its type is not read")
		case f.Kind == formats.Bytes:
			r.skip(name, "it has bytes that are no image file; a map makes a field of it: --map image="+r.fields[0].column+","+name+"="+name)
		case extra && isField:
			r.fields = append(r.fields, f)
		default:
			r.columns = append(r.columns, f)
		}
	}
	for _, name := range o.nested {
		r.skip(name, isNested)
	}
	return nil
}

// isNested says why a column is left out.
const isNested = "it has lists or structs, which are not read: write them as texts, such as JSON, for a column of each sample"

func (r *roles) skip(column, cause string) {
	r.skipped = append(r.skipped, formats.Skip{Path: "column " + column, Cause: cause})
}

// has reports whether a field or a column has the name. It copies nothing: a file may have 10,000 columns.
func (r *roles) has(name string) bool {
	for _, list := range [][]role{r.fields, r.columns} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	return false
}

// free returns the name, or one like it that is neither a field's nor a column's.
func (r *roles) free(name string) string { return foreign.FreeName(name, r.has) }

// schema returns the fields.
func (r *roles) schema() formats.Schema {
	s := make(formats.Schema, len(r.fields))
	for i := range r.fields {
		s[i] = r.fields[i].Field
	}
	return s
}

// columnNames lists the user's columns: those, and the paths of the designated images.
func (r *roles) columnNames() []string {
	var names []string
	for i := range r.columns {
		names = append(names, r.columns[i].Name)
	}
	if r.fields[0].path != "" {
		names = append(names, r.fields[0].path)
	}
	return names
}
