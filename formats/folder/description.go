package folder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// Description is a JSON file beside a table of labels that says what each of its columns is, so
// that nothing has to be guessed: unpack writes both, and Config.Labels takes the description in
// place of a table.
type Description struct {
	// Version is that of the description: DescriptionVersion.
	Version int `json:"dsconv_labels"`
	// Table is the name of a table in the same folder, with a column "path".
	Table string `json:"table"`
	// Key and Split are columns of the table; without one of keys, a key is the path without
	// extension.
	Key   string `json:"key,omitempty"`
	Split string `json:"split,omitempty"`
	// Fields are the dataset's, in order.
	Fields []FieldColumn `json:"fields"`
	// Columns are the user's, in order.
	Columns []UserColumn `json:"columns,omitempty"`
}

// DescriptionVersion is the latest version of descriptions.
const DescriptionVersion = 1

// FieldColumn is a field of the dataset and the table's column that has it: the name of a class,
// or for what is no label the path of a file, "" for none. The designated image has no column.
type FieldColumn struct {
	formats.Field
	Column string `json:"column,omitempty"`
	// Sep separates the labels of a multi-hot field.
	Sep string `json:"sep,omitempty"`
	// Numbered says that cells hold indices of classes, because names do not tell classes apart.
	Numbered bool `json:"numbered,omitempty"`
}

// UserColumn is a column of the dataset and what it is called in the table.
type UserColumn struct {
	Name   string `json:"name"`
	Column string `json:"column"`
}

// IsDescription reports whether a file of labels is a description of a table.
func IsDescription(file string) bool { return strings.EqualFold(filepath.Ext(file), ".json") }

func readDescription(file string) (*Description, error) {
	b, err := readText(file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	d := new(Description)
	if err := json.Unmarshal(b, d); err != nil || d.Version == 0 {
		return nil, fmt.Errorf("%s: this is no description of labels as dsconv unpack writes it; labels are read from .csv, .tsv and .jsonl files", file)
	}
	if d.Version > DescriptionVersion {
		return nil, fmt.Errorf("%s: %w: it has version %d, this one reads up to %d", file, formats.ErrNewer, d.Version, DescriptionVersion)
	}
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

func (d *Description) validate() error {
	if d.Table == "" || filepath.Base(d.Table) != d.Table || !filepath.IsLocal(d.Table) {
		return fmt.Errorf("the table %q is no name of a file in this folder", d.Table)
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		r := labelReader{FieldColumn: f}
		if f.Kind == formats.MultiHot && (f.Sep == "" || r.width() > labels.MaxIndex+1 || r.width() < int64(len(f.Classes))) {
			return fmt.Errorf("the field %s: several labels of %d classes, as many as %d, separated by %q", f.Name, len(f.Classes), r.width(), f.Sep)
		}
	}
	return d.Schema().Validate()
}

// Schema is that of the dataset.
func (d *Description) Schema() formats.Schema {
	schema := make(formats.Schema, len(d.Fields))
	for i := range d.Fields {
		schema[i] = d.Fields[i].Field
	}
	return schema
}

// DescribeField chooses how the labels of a field are written in a table, under the name column.
func DescribeField(f formats.Field, column string) FieldColumn {
	c := FieldColumn{Field: f, Column: column}
	if f.Kind == formats.Image || f.Kind == formats.Mask {
		c.DType, c.Shape = "", nil // the files tell
	}
	if f.Kind != formats.Label && f.Kind != formats.MultiHot {
		return c // the cell is a number, or a path
	}
	names := slices.Sorted(slices.Values(f.Classes))
	c.Numbered = len(names) == 0 || names[0] == "" || len(slices.Compact(names)) < len(f.Classes)
	if f.Kind == formats.Label {
		return c
	}
	all := strings.Join(f.Classes, "\n")
	for _, sep := range []string{";", "|", ",", "/", " "} {
		if c.Sep = sep; !strings.Contains(all, sep) {
			return c
		}
	}
	c.Numbered = true
	return c
}

// Cell is what the table says of a label, or of several.
func (c *FieldColumn) Cell(v *formats.Value) string {
	switch c.Kind {
	case formats.Number:
		x, _ := v.Float32()
		return labels.FormatFloat(x)
	case formats.Label:
		if x, ok := v.Int64(); ok && x >= 0 {
			return c.name(int(x))
		}
		return ""
	}
	var hot []string
	for i, b := range v.Data {
		if b != 0 {
			hot = append(hot, c.name(i))
		}
	}
	return strings.Join(hot, c.Sep)
}

func (c *FieldColumn) name(i int) string {
	if c.Numbered || i >= len(c.Classes) {
		return strconv.Itoa(i)
	}
	return c.Classes[i]
}

// labelReader reads the cells of a label column.
type labelReader struct {
	*FieldColumn
	index map[string]int64
}

func (c *FieldColumn) reader() labelReader {
	r := labelReader{FieldColumn: c}
	if !c.Numbered {
		r.index = indexOf(c.Classes)
	}
	return r
}

// indices are the classes that a cell names.
func (r *labelReader) indices(cell string) ([]int64, error) {
	if cell == "" {
		return nil, nil
	}
	names := []string{cell}
	if r.Kind == formats.MultiHot {
		names = strings.Split(cell, r.Sep)
	}
	list := make([]int64, len(names))
	for i, name := range names {
		x, ok := r.index[name]
		if !ok {
			if x, ok = r.numbered(name); !ok {
				return nil, fmt.Errorf("%s %q is none of its classes: %s; a new one is added at the end of its classes in the .json", r.Column, name, listNames(r.Classes))
			}
		}
		list[i] = x
	}
	return list, nil
}

// numbered is the index of a class that has no name that tells it: of any in a field whose
// classes are Numbered, else of one beyond the names.
func (r *labelReader) numbered(text string) (int64, bool) {
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil || x < 0 {
		return 0, false
	}
	if r.Kind == formats.Label && len(r.Classes) == 0 {
		return x, true
	}
	return x, x < r.width() && (r.Numbered || x >= int64(len(r.Classes)))
}

// width is the number of elements of a multi-hot field.
func (r *labelReader) width() int64 {
	if len(r.Shape) == 1 && r.Shape[0] >= 0 {
		return int64(r.Shape[0])
	}
	return int64(len(r.Classes))
}

// check reports what is wrong with a cell.
func (r *labelReader) check(cell string) (err error) {
	if r.Kind == formats.Number {
		_, err = r.number(cell)
	} else {
		_, err = r.indices(cell)
	}
	return err
}

func (r *labelReader) number(cell string) (float32, error) {
	if cell == "" {
		return labels.NaN(), nil
	}
	x, err := strconv.ParseFloat(cell, 32)
	if err != nil {
		return 0, fmt.Errorf("%s %q is no number", r.Column, cell)
	}
	return float32(x), nil
}

// set makes v the label of a cell that check has accepted.
func (r *labelReader) set(v *formats.Value, cell string) error {
	if r.Kind == formats.Number {
		x, err := r.number(cell)
		v.SetFloat32(x)
		return err
	}
	list, err := r.indices(cell)
	if err != nil {
		return err
	}
	if r.Kind == formats.Label {
		v.SetInt64(firstOrNoLabel(list))
		return nil
	}
	n := int(r.width())
	v.Data = append(v.Buffer(), make([]byte, n)...)
	for _, hot := range list {
		v.Data[hot] = 1
	}
	v.Encoding, v.DType, v.Shape = formats.Raw, formats.Uint8, append(v.Shape[:0], n)
	return nil
}

func firstOrNoLabel(list []int64) int64 {
	if len(list) == 0 {
		return formats.NoLabel
	}
	return list[0]
}

// Encode is the content of the file.
func (d *Description) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(d)
	return b.Bytes(), err
}
