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
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
)

// Description is a JSON file beside a table of labels that describes each of its columns, so
// that nothing has to be guessed. Unpack writes both, and Config.Labels accepts the description
// instead of a table.
type Description struct {
	// Version is the description's version; see DescriptionVersion.
	Version int `json:"dsconv_labels"`
	// Table is the name of a table in the same folder, with a column "path".
	Table string `json:"table"`
	// Key and Split are columns of the table; without Key, a key is the path without extension.
	Key   string `json:"key,omitempty"`
	Split string `json:"split,omitempty"`
	// Fields are the dataset's, in order.
	Fields []FieldColumn `json:"fields"`
	// Columns are the user's, in order.
	Columns []UserColumn `json:"columns,omitempty"`
	// Renamed are the renamed classes of the dataset: see formats.Meta.
	Renamed map[string]string `json:"renamed_classes,omitempty"`
}

// DescriptionVersion is the latest version of descriptions.
const DescriptionVersion = 1

// FieldColumn is a field of the dataset and the table's column of its values: a class name, a
// number, or for other fields the path of a file. The designated image has no column.
type FieldColumn struct {
	formats.Field
	Column string `json:"column,omitempty"`
	// Sep separates the labels of a multi-hot field.
	Sep string `json:"sep,omitempty"`
	// Numbered: cells have class indices, because the class names are not unique.
	Numbered bool `json:"numbered,omitempty"`

	index map[string]int64 // of the classes, once it was read
}

// UserColumn is a user's column of the dataset and its name in the table.
type UserColumn struct {
	Name   string `json:"name"`
	Column string `json:"column"`
}

// IsDescription reports whether a file of labels on the disk is a Description. Other JSON files are tables.
func IsDescription(file string) bool { return isDescription(vfs.OnDisk(""), file) }

func isDescription(in vfs.FS, file string) bool {
	if !strings.EqualFold(filepath.Ext(file), ".json") {
		return false
	}
	f, err := in.OpenText(file)
	if err != nil {
		return false // reading it returns the error
	}
	defer f.Close()
	d := json.NewDecoder(f) // of an object with the version of a description, not below other values
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == "dsconv_labels" {
			return err == nil
		}
		if err := d.Decode(new(json.RawMessage)); err != nil {
			return false
		}
	}
	return false
}

func readDescription(in vfs.FS, file string) (*Description, error) {
	b, err := vfs.ReadText(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	d := new(Description)
	if err := json.Unmarshal(b, d); err != nil || d.Version == 0 {
		return nil, fmt.Errorf("%s: not a description of labels that dsconv unpack wrote; give a .csv, .tsv or .jsonl file", file)
	}
	if d.Version > DescriptionVersion {
		return nil, fmt.Errorf("%s: %w: it has version %d, this dsconv reads versions up to %d; install a newer one", file, formats.ErrNewer, d.Version, DescriptionVersion)
	}
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

func (d *Description) validate() error {
	if d.Table == "" || filepath.Base(d.Table) != d.Table || !filepath.IsLocal(d.Table) {
		return fmt.Errorf("the table %q must be the name of a file in this folder", d.Table)
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Kind == formats.MultiHot && (f.Sep == "" || f.width() > labels.MaxIndex+1 || f.width() < int64(len(f.Classes))) {
			return fmt.Errorf("the multi-hot field %s has no separator (%q) or an impossible size: %d for %d classes", f.Name, f.Sep, f.width(), len(f.Classes))
		}
		if f.index = nil; !f.Numbered {
			f.index = labels.IndexOf(f.Classes)
		}
	}
	return d.schema().Validate()
}

// schema returns the dataset's schema.
func (d *Description) schema() formats.Schema {
	schema := make(formats.Schema, len(d.Fields))
	for i := range d.Fields {
		schema[i] = d.Fields[i].Field
	}
	return schema
}

// DescribeField chooses how a field's values are written in a table, under the name column.
func DescribeField(f formats.Field, column string) FieldColumn {
	c := FieldColumn{Field: f, Column: column}
	if f.Kind == formats.Image || f.Kind == formats.Mask {
		c.DType, c.Shape = "", nil // each file has its own
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

// Cell returns the table's cell for a label value.
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

// indices returns the class indices that a cell names.
func (c *FieldColumn) indices(cell string) ([]int64, error) {
	if cell == "" {
		return nil, nil
	}
	names := []string{cell}
	if c.Kind == formats.MultiHot {
		names = strings.Split(cell, c.Sep)
	}
	list := make([]int64, len(names))
	for i, name := range names {
		x, ok := c.index[name]
		if !ok {
			if x, ok = c.numbered(name); !ok {
				return nil, fmt.Errorf("column %s: unknown class %q; the classes are %s. Add a new one at the end of the list in the .json", c.Column, name, tables.ListNames(c.Classes))
			}
		}
		list[i] = x
	}
	return list, nil
}

// numbered parses the index of a class without a unique name: any class of a Numbered field, else
// a class beyond the names.
func (c *FieldColumn) numbered(text string) (int64, bool) {
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil || x < 0 {
		return 0, false
	}
	if c.Kind == formats.Label && len(c.Classes) == 0 {
		return x, true
	}
	return x, x < c.width() && (c.Numbered || x >= int64(len(c.Classes)))
}

// width returns the number of elements of a multi-hot field.
func (c *FieldColumn) width() int64 {
	if len(c.Shape) == 1 && c.Shape[0] >= 0 {
		return int64(c.Shape[0])
	}
	return int64(len(c.Classes))
}

// set sets v to the label of a cell.
func (c *FieldColumn) set(v *formats.Value, cell string) error {
	if c.Kind == formats.Number {
		if v.SetFloat32(labels.NaN()); cell == "" {
			return nil
		}
		x, err := strconv.ParseFloat(cell, 32)
		if err != nil {
			return fmt.Errorf("column %s: %q is not a number", c.Column, cell)
		}
		v.SetFloat32(float32(x))
		return nil
	}
	list, err := c.indices(cell)
	if err != nil {
		return err
	}
	if c.Kind == formats.Label {
		v.SetInt64(firstOrNoLabel(list))
		return nil
	}
	setMultiHot(v, list, int(c.width()))
	return nil
}

func firstOrNoLabel(list []int64) int64 {
	if len(list) == 0 {
		return formats.NoLabel
	}
	return list[0]
}

// Encode returns the content of the file.
func (d *Description) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(d)
	return b.Bytes(), err
}
