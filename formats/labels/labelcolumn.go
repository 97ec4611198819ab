package labels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Source is a label column of a table, before its cells are interpreted.
type Source struct {
	Column string
	Cells  []string
	Where  func(i int) string // the location of cell i for messages: "line 7"
	Type   Type
	Sep    string // separates several labels of a cell; "" if each cell is one label
	// Order returns class names in another order than the package's, perhaps with extra
	// names. Nil is the package's order.
	Order func(names []string) ([]string, error)
	// Like is the label field of the dataset that the column is added to; nil for a new dataset.
	Like *formats.Field
}

// Column is a label column whose cells have been interpreted.
type Column struct {
	Type    Type // never Auto
	Sep     string
	Classes []string

	vectors bool   // each cell has a 0 or 1 for each class
	rounded int    // numbers to predict that are equal to others only as float32
	example string // two of them

	requested Type             // by the caller
	index     map[string]int64 // class indices by text
	existing  map[string]int64 // class indices of the dataset that the column is added to
}

// texts are the different labels of a column and the first cell of each.
type texts struct {
	list  []string
	first map[string]int
}

// Read interprets the column's cells. An error names the column, the line and the cell.
func (s *Source) Read() (*Column, error) {
	c := &Column{Type: s.Type, Sep: s.Sep, requested: s.Type}
	if s.Like != nil {
		if s.Type == Float && s.Like.Kind != formats.Number {
			return nil, fmt.Errorf("column %q: the dataset's labels are classes, not numbers to predict; choose another --label-type than float", s.Column)
		}
		if s.Like.Kind == formats.Number && s.Type != Auto && s.Type != Float {
			return nil, fmt.Errorf("column %q: the dataset's labels are numbers to predict, not classes; use --label-type float", s.Column)
		}
		c.Classes, c.existing = s.Like.Classes, IndexOf(s.Like.Classes)
		if s.Like.Kind == formats.Number {
			c.Type = Float
		}
	}
	var err error
	if c.Type == Float {
		err = s.checkNumbers(c)
	} else {
		n := s.vectors()
		c.vectors = n > 0
		err = s.classes(c, s.distinct(c), n)
	}
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", s.Column, err)
	}
	return c, nil
}

// distinct returns the column's different labels.
func (s *Source) distinct(c *Column) texts {
	t := texts{first: map[string]int{}}
	for i, cell := range s.Cells {
		for _, text := range c.split(cell) {
			if _, seen := t.first[text]; !seen {
				t.first[text] = i
				t.list = append(t.list, text)
			}
		}
	}
	return t
}

// split returns the labels of a cell.
func (c *Column) split(cell string) []string {
	if _, ok := c.existing[cell]; ok && c.Sep == "" {
		return []string{cell} // an earlier dsconv did not trim white space
	}
	if c.Sep == "" {
		if cell = strings.TrimSpace(cell); c.isNoLabel(cell) {
			return nil
		}
		return []string{cell}
	}
	var names []string
	if c.vectors {
		_, hot := vectorOf(strings.ReplaceAll(cell, c.Sep, " "))
		for i, x := range hot {
			if x == 1 {
				names = append(names, strconv.Itoa(i))
			}
		}
		return names
	}
	for name := range strings.SplitSeq(cell, c.Sep) {
		if name = strings.TrimSpace(name); !c.isNoLabel(name) {
			names = append(names, name)
		}
	}
	return names
}

// isNoLabel reports whether text means "no label".
func (c *Column) isNoLabel(text string) bool {
	if text == "" {
		return true
	}
	_, class := c.existing[text]
	if c.requested == Name || class {
		return false
	}
	x, ok := parseNumber(text)
	return ok && x == -1
}

func (s *Source) checkNumbers(c *Column) error {
	if s.Sep != "" {
		return fmt.Errorf("a column of numbers to predict cannot have several values per cell; leave out --label-sep %q", s.Sep)
	}
	exact := map[float32]float64{}
	for i, cell := range s.Cells {
		text := strings.TrimSpace(cell)
		x, ok := parseFloat(text)
		if !ok {
			return fmt.Errorf("%s: %q is not a float32 number (with a decimal point); leave the cell empty if there is no number", s.Where(i), text)
		}
		y, _ := strconv.ParseFloat(text, 64)
		if other, twice := exact[x]; !twice {
			exact[x] = y
		} else if other != y && x == x { // NaN alone differs from itself
			c.rounded++
			c.example = fmt.Sprintf("%s and %s", strconv.FormatFloat(other, 'g', -1, 64), text)
		}
	}
	return nil
}

// Indices returns the class indices of a cell: none, one, or with a separator several.
func (c *Column) Indices(cell string) []int64 {
	var list []int64
	for _, text := range c.split(cell) {
		list = append(list, c.index[text])
	}
	return list
}

// Has reports whether a cell has a label.
func (c *Column) Has(cell string) bool {
	if c.Type == Float {
		return !math.IsNaN(float64(c.Number(cell)))
	}
	return len(c.split(cell)) > 0
}

// Note says what is not evident of how the cells were read, "" for nothing.
func (c *Column) Note() string {
	switch {
	case c.vectors:
		return fmt.Sprintf("each cell has a 0 or 1 for each of %d classes", len(c.Classes))
	case c.rounded > 0:
		return fmt.Sprintf("%d are equal to others only as float32, such as %s", c.rounded, c.example)
	}
	return ""
}

// Number returns the number in a cell of the type Float; NaN if the cell is empty.
func (c *Column) Number(cell string) float32 {
	x, _ := parseFloat(strings.TrimSpace(cell))
	return x
}

// Field returns the field for the column, with that name.
func (c *Column) Field(name string) formats.Field {
	switch {
	case c.Type == Float:
		return formats.Field{Name: name, Kind: formats.Number, DType: formats.Float32}
	case c.Sep != "":
		return formats.Field{Name: name, Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{len(c.Classes)}, Classes: c.Classes}
	}
	return formats.Field{Name: name, Kind: formats.Label, DType: formats.Int64, Classes: c.Classes}
}

// Type is the type of a column's cells.
type Type string

// The types of columns.
const (
	Auto  Type = ""      // decided by the package's rules
	Index Type = "index" // class indices, also with gaps; -1 is no label
	Name  Type = "name"  // class names, also if they are numbers
	Float Type = "float" // numbers to predict
)

// Types are the types of a table's label columns.
type Types struct {
	all      Type
	byColumn map[string]Type
}

// ParseTypes parses index, name or float for all columns, or a list for some of them:
// "age=float,class=name". "" is Auto for all.
func ParseTypes(s string) (Types, error) {
	t := Types{byColumn: map[string]Type{}}
	if s == "" {
		return t, nil
	}
	for entry := range strings.SplitSeq(s, ",") {
		at := strings.LastIndexByte(entry, '=')
		column, typ := entry[:max(at, 0)], Type(entry[at+1:])
		_, twice := t.byColumn[column]
		switch {
		case !slices.Contains([]Type{Index, Name, Float}, typ):
			return t, fmt.Errorf("unknown label type %q: give index, name or float for all label columns, or COLUMN=TYPE,COLUMN=TYPE", entry)
		case twice || at < 0 && t.all != Auto:
			return t, fmt.Errorf("label type %q: a column has two types; give one", s)
		case at < 0:
			t.all = typ
		default:
			t.byColumn[column] = typ
		}
	}
	return t, nil
}

// For returns the type of a column.
func (t Types) For(column string) Type {
	if typ, ok := t.byColumn[column]; ok {
		return typ
	}
	return t.all
}

// Check reports a column that has a type but is not among the label columns.
func (t Types) Check(columns []string) error {
	for name, typ := range t.byColumn {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("label type %s=%s: %q is not one of the label columns: %s", name, typ, name, strings.Join(columns, ", "))
		}
	}
	if t.all != Auto && len(columns) == 0 {
		return fmt.Errorf("label type %s: there is no label column", t.all)
	}
	return nil
}
