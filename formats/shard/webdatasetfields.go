package shard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

const (
	imageName = "image"
	labelName = "label"
	classes   = "cls" // the extension of the label
	arrayFile = "npy" // as of foreign.FieldSource
	vector    = "hot" // likewise: a text with 0 or 1 for each class
)

// fields are those that a map names.
type fields struct {
	extensions map[string][]string // of a field's members
	labelPath  []string            // in JSON; the extension is then json
	// dotted: the names of samples have dots, so the key is what comes before the last one.
	dotted bool
}

// parseFields reads a map.
func parseFields(m map[string]string) (*fields, error) {
	f := &fields{extensions: map[string][]string{}}
	for field, key := range m {
		for ext := range strings.SplitSeq(strings.ToLower(key), ";") {
			f.extensions[field] = append(f.extensions[field], strings.TrimPrefix(strings.TrimSpace(ext), "."))
		}
		if at := strings.Index(key, "json."); field == labelName && (at == 0 || at > 0 && key[at-1] == '.') {
			f.extensions[field] = []string{strings.ToLower(key[:at+len("json")])}
			f.labelPath = strings.Split(key[at+len("json."):], ".")
		}
		if field == labelName && len(f.extensions[field]) != 1 {
			return nil, fmt.Errorf("%w: the map has several extensions for the label: %q", formats.ErrSchema, key)
		}
	}
	return f, nil
}

// labelExtension is that of the members that have the label.
func (f *fields) labelExtension() string {
	if given := f.extensions[labelName]; len(given) > 0 {
		return given[0]
	}
	for _, given := range f.extensions { // of another field
		if slices.Contains(given, classes) {
			return ""
		}
	}
	return classes
}

// builder makes the layout of a dataset.
type builder struct {
	*fields
	found *foreign.Found
	used  map[int]bool // columns
	foreign.Layout
}

// layout decides which fields the samples have.
func (f *fields) layout(found *foreign.Found) (*foreign.Layout, error) {
	b := &builder{fields: f, found: found, used: map[int]bool{}}
	if err := b.addImage(); err != nil {
		return nil, err
	}
	if err := b.addLabel(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.extensions)) {
		if name == imageName || name == labelName {
			continue
		}
		columns, err := b.columnsOf(name, f.extensions[name])
		if err != nil {
			return nil, err
		}
		b.add(name, columns)
	}
	order := make([]int, len(found.Columns))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(x, y int) int { return strings.Compare(found.Columns[x].Name, found.Columns[y].Name) })
	for _, k := range order {
		if !b.used[k] {
			b.add(b.nameFor(found.Columns[k].Name), []int{k})
		}
	}
	return &b.Layout, nil
}

// columnsOf returns the columns with those extensions; it is an error if there is none.
func (b *builder) columnsOf(field string, extensions []string) (columns []int, err error) {
	for _, ext := range extensions {
		if k := b.column(ext); k >= 0 {
			columns = append(columns, k)
		}
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: the map gives %s to the field %s, and no sample has that; there are %s",
			formats.ErrSchema, strings.Join(extensions, ";"), field, b.names())
	}
	return columns, nil
}

func (b *builder) column(ext string) int {
	return slices.IndexFunc(b.found.Columns, func(c foreign.Column) bool { return c.Name == ext })
}

// names lists the extensions for an error, the most frequent first.
func (b *builder) names() string {
	const most = 20
	columns := slices.Clone(b.found.Columns)
	slices.SortStableFunc(columns, func(x, y foreign.Column) int { return cmp.Compare(y.Count, x.Count) })
	var names []string
	for k, c := range columns {
		if k == most {
			names = append(names, fmt.Sprintf("%d more", len(columns)-most))
			break
		}
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// addImage adds the designated image, the first field.
func (b *builder) addImage() (err error) {
	columns := b.images()
	if given := b.extensions[imageName]; len(given) > 0 {
		if columns, err = b.columnsOf(imageName, given); err != nil {
			return err
		}
	}
	if len(columns) == 0 {
		return fmt.Errorf("%w: no sample has an image; there are %s: name what is the image by a map, such as image=jpg", formats.ErrSchema, b.names())
	}
	as := ""
	if lastPart(b.found.Columns[columns[0]].Name) == arrayFile {
		as = arrayFile
	}
	b.append(formats.Field{Name: imageName, Kind: formats.Image}, foreign.FieldSource{Columns: columns, As: as})
	return nil
}

// images returns the columns of the image where no map names them.
func (b *builder) images() []int {
	var plain, stems []int
	for k, c := range b.found.Columns {
		switch {
		case c.Encoded == 0 || !isImage(c.Name):
		case strings.Contains(c.Name, "."):
			stems = append(stems, k)
		default:
			plain = append(plain, k)
		}
	}
	by := func(x, y int) int {
		a, b := &b.found.Columns[x], &b.found.Columns[y]
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(slices.Index(imageExtensions, a.Name), slices.Index(imageExtensions, b.Name)), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(plain, by)
	slices.SortFunc(stems, by)
	sum := 0
	for _, k := range plain {
		sum += b.found.Columns[k].Count
	}
	switch {
	case len(plain) == 0 && len(stems) > 0:
		return stems[:1]
	case sum > b.found.Samples:
		return plain[:1] // some samples have two: they are different things
	}
	return plain
}

// addLabel adds the label, if there is one.
func (b *builder) addLabel() error {
	if given := b.extensions[labelName]; len(given) > 0 {
		if _, err := b.columnsOf(labelName, given); err != nil {
			return err
		}
		if b.found.Classed == 0 {
			return fmt.Errorf("%w: no sample has a label in %s", formats.ErrSchema, strings.Join(append(given, b.labelPath...), "."))
		}
	}
	if b.dotted {
		b.Notices = append(b.Notices, "the names of samples have dots, such as a.b.jpg and a.b.cls: the key is what comes before the last one, where webdataset takes the first")
	}
	if b.found.Classed == 0 {
		b.noticeClasses()
		return nil
	}
	texts := slices.Sorted(maps.Keys(b.found.Classes))
	if n, _ := labels.AreVectors(texts); n > 0 && len(b.labelPath) == 0 {
		at := b.column(b.labelExtension())
		b.append(formats.Field{Name: labelName, Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{n}, Classes: foreign.Numbered(n)},
			foreign.FieldSource{Columns: []int{at}, As: vector})
		return nil
	}
	if len(b.labelPath) == 0 { // otherwise the JSON is a field too
		b.used[b.column(b.labelExtension())] = true
	}
	b.append(formats.Field{Name: labelName, Kind: formats.Label}, foreign.FieldSource{})
	return nil
}

// noticeClasses names members that may have the label of samples that have none.
func (b *builder) noticeClasses() {
	for _, c := range b.found.Columns {
		if lastPart(c.Name) == classes && len(b.extensions[labelName]) == 0 && c.Name != classes {
			b.Notices = append(b.Notices, fmt.Sprintf("no label: the classes of %d samples are in .%s, since a key ends at the first dot; --map label=%s takes them", c.Count, c.Name, c.Name))
		}
	}
}

// textExtensions and jsonExtensions are those of values that are UTF-8.
var (
	textExtensions = []string{"txt", "text", "caption", "transcript", classes, "cls2"}
	jsonExtensions = []string{"json", "jsn"}
)

// add adds the field with that name, whose kind the members' extension and bytes tell.
func (b *builder) add(name string, columns []int) {
	c := &b.found.Columns[columns[0]]
	all, last := len(columns) == 1 && c.Count == b.found.Samples, lastPart(c.Name)
	_, mapped := b.extensions[name]
	f, from := formats.Field{Name: name, Kind: formats.Bytes}, foreign.FieldSource{Columns: columns}
	switch {
	case slices.Contains(textExtensions, last):
		f.Kind = formats.Text
	case slices.Contains(jsonExtensions, last):
		f.Kind = formats.JSON
	case !all && !mapped: // bytes, since a sample without it stays
	case isImage(c.Name) && c.Encoded > 0:
		f.Kind = formats.Image
		if foreign.IsMask(name) && last != "jpg" && last != "jpeg" {
			f.Kind = formats.Mask
		}
	case last == arrayFile && 2*c.Tensors > c.Count && c.DType != "":
		f.Kind, f.DType, f.Shape, from.As = formats.Array, c.DType, c.Shape, arrayFile
	}
	b.append(f, from)
}

func (b *builder) append(f formats.Field, from foreign.FieldSource) {
	for _, k := range from.Columns {
		b.used[k] = true
	}
	b.Schema, b.Fields = append(b.Schema, f), append(b.Fields, from)
}

// nameFor returns the name of the field of an extension: "mask" of "mask.png" unless that is taken.
func (b *builder) nameFor(ext string) string {
	stem := ext
	if at := strings.LastIndexByte(ext, '.'); at > 0 {
		stem = ext[:at]
	}
	name := foreign.FieldName(stem)
	if b.isTaken(name) {
		name = foreign.FieldName(ext)
	}
	return foreign.FreeName(name, b.isTaken)
}

func (b *builder) isTaken(name string) bool {
	return name == imageName || name == labelName || b.Schema.Index(name) >= 0 || b.extensions[name] != nil
}
