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
		err = s.checkNumbers()
	} else {
		err = s.classes(c, s.distinct(c))
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
	if c.requested == Index {
		x, ok := parseNumber(text)
		return ok && x == -1
	}
	return text == "-1"
}

// classes decides whether the texts are indices or names, and the class index of each.
func (s *Source) classes(c *Column, t texts) error {
	switch {
	case len(c.Classes) > 0:
		return s.addClasses(c, t)
	case c.Type == Index:
		return s.indexed(c, t)
	case c.Type == Auto && s.Order == nil && numeric(t.list):
		if why := s.whyNotIndices(t, nil); why != "" {
			return s.ambiguousError(t, why)
		}
		c.Type = Index
		return s.indexed(c, t)
	}
	c.Type, c.Classes = Name, slices.Clone(t.list)
	if s.Order != nil {
		var err error
		if c.Classes, err = s.Order(c.Classes); err != nil {
			return err
		}
	} else {
		sortNames(c.Classes)
	}
	c.index = IndexOf(c.Classes)
	return nil
}

// numeric reports whether the list has texts and all are numbers.
func numeric(list []string) bool {
	for _, text := range list {
		if _, ok := parseNumber(text); !ok {
			return false
		}
	}
	return len(list) > 0
}

// indexed interprets the texts as class indices.
func (s *Source) indexed(c *Column, t texts) error {
	c.index = map[string]int64{}
	largest := -1
	for _, text := range t.list {
		n, err := asIndex(text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.where(t, text), err)
		}
		c.index[text] = int64(n)
		largest = max(largest, n)
	}
	c.Classes = indices(max(largest+1, len(c.Classes)))
	return nil
}

// asIndex parses a class index; "3.0", which some programs write for 3, is 3.
func asIndex(text string) (int, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch n := int(x); {
	case err != nil || x != float64(n) || n < 0:
		return 0, fmt.Errorf("%q is not a class index: give a whole number from 0, or -1 or nothing for no label", text)
	case n > MaxIndex:
		return 0, fmt.Errorf("%s is too large for a class index (the limit is %d); if the numbers are class names, use --label-type name; if they are numbers to predict, float", text, MaxIndex)
	default:
		return n, nil
	}
}

// addClasses adds new classes after those of the dataset.
func (s *Source) addClasses(c *Column, t texts) error {
	if s.Type != Name && areIndices(c.Classes) && numeric(t.list) {
		if s.Type == Auto {
			if why := s.whyNotIndices(t, c.Classes); why != "" {
				return fmt.Errorf("%s, but the dataset's classes are the indices 0 to %d. Choose what the numbers are: "+
					"--label-type index (class indices, with gaps) or name (class names)", why, len(c.Classes)-1)
			}
		}
		c.Type = Index
		return s.indexed(c, t)
	}
	var more []string
	for _, text := range t.list {
		if _, ok := c.existing[text]; !ok {
			more = append(more, text)
		}
	}
	if s.likelyMistake(t, more) {
		return fmt.Errorf("%s has %s, but the dataset's classes have names such as %s. Give names, or use --label-type name "+
			"if each number is the name of a new class", s.where(t, more[0]), more[0], c.Classes[0])
	}
	if s.Order != nil && len(more) > 0 {
		var err error
		if more, err = s.Order(more); err != nil {
			return err
		}
		more = slices.DeleteFunc(more, func(name string) bool { _, ok := c.existing[name]; return ok })
	} else {
		sortNames(more)
	}
	c.Type, c.Classes = Name, append(slices.Clip(c.Classes), more...)
	c.index = IndexOf(c.Classes)
	return nil
}

// likelyMistake reports whether more, new classes of a dataset whose classes have names, are
// probably a mistake: they are numbers that the user declared to be indices, or all cells are such
// numbers.
func (s *Source) likelyMistake(t texts, more []string) bool {
	switch s.Type {
	case Index:
		return numeric(more)
	case Auto:
		return s.Order == nil && len(more) == len(t.list) && numeric(more)
	}
	return false
}

func (s *Source) checkNumbers() error {
	if s.Sep != "" {
		return fmt.Errorf("a column of numbers to predict cannot have several values per cell; leave out --label-sep %q", s.Sep)
	}
	for i, cell := range s.Cells {
		if text := strings.TrimSpace(cell); !isFloat(text) {
			return fmt.Errorf("%s: %q is not a float32 number (with a decimal point); leave the cell empty if there is no number", s.Where(i), text)
		}
	}
	return nil
}

func isFloat(text string) bool {
	_, ok := parseFloat(text)
	return ok
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
