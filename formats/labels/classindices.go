package labels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Source is a column of labels as a table has it.
type Source struct {
	Column string
	Cells  []string
	Where  func(i int) string // where cell i is, for messages: "line 7"
	Type   Type
	Sep    string // between several labels of a cell; "" if each is one label
	// Order puts the names of classes into another order than the package's; it may name
	// more. Nil is the package's.
	Order func(names []string) ([]string, error)
	// Like is the label of the dataset that the column goes to; nil if that is a new one.
	Like *formats.Field
}

// Column is a column of which it is known what its cells mean.
type Column struct {
	Type    Type // never Auto
	Sep     string
	Classes []string

	requested Type             // what the caller said
	index     map[string]int64 // of the texts that are classes
	existing  map[string]int64 // of the dataset that the column goes to
}

// texts are the different ones of a column and the cells that they are in first.
type texts struct {
	list  []string
	first map[string]int
}

// Read finds out what the column's cells mean. An error names column, place and cell.
func (s *Source) Read() (*Column, error) {
	c := &Column{Type: s.Type, Sep: s.Sep, requested: s.Type}
	if s.Like != nil {
		if s.Type == Float && s.Like.Kind != formats.Number {
			return nil, fmt.Errorf("the column %q: the labels of the dataset are classes, no numbers to predict", s.Column)
		}
		if s.Like.Kind == formats.Number && s.Type != Auto && s.Type != Float {
			return nil, fmt.Errorf("the column %q: the labels of the dataset are numbers to predict (--label-type float), no classes", s.Column)
		}
		c.Classes, c.existing = s.Like.Classes, indexOf(s.Like.Classes)
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
		return nil, fmt.Errorf("the column %q: %w", s.Column, err)
	}
	return c, nil
}

// distinct lists the column's labels.
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

// split takes a cell apart, without what is no label.
func (c *Column) split(cell string) []string {
	if _, ok := c.existing[cell]; ok && c.Sep == "" {
		return []string{cell} // an earlier dsconv did not take white space off
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

// none reports whether text stands for "no label".
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

// classes decides what the texts are and which index each has.
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
	c.index = indexOf(c.Classes)
	return nil
}

// numeric reports whether there are texts and all are numbers.
func numeric(list []string) bool {
	for _, text := range list {
		if _, ok := parseNumber(text); !ok {
			return false
		}
	}
	return len(list) > 0
}

// indexed takes the texts for class indices.
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

// asIndex is the class index that text is; "3.0", which some programs make of 3, is 3.
func asIndex(text string) (int, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch n := int(x); {
	case err != nil || x != float64(n) || n < 0:
		return 0, fmt.Errorf("%q is no class index, which is a whole number from 0, or -1 or nothing for no label", text)
	case n > MaxIndex:
		return 0, fmt.Errorf("%s is too large for a class index (at most %d); if each number is the name of a class choose --label-type name, if it is a number to predict float", text, MaxIndex)
	default:
		return n, nil
	}
}

// grow adds the classes that the dataset has not to those that it has.
func (s *Source) addClasses(c *Column, t texts) error {
	if s.Type != Name && areIndices(c.Classes) && numeric(t.list) {
		if s.Type == Auto {
			if why := s.whyNotIndices(t, c.Classes); why != "" {
				return fmt.Errorf("%s, and the dataset's classes are the indices 0 to %d. Say what the numbers are: "+
					"--label-type index (class indices, with gaps) or name (each is the name of a class)", why, len(c.Classes)-1)
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
		return fmt.Errorf("%s has %s, and the dataset's classes have names, such as %s. Give names, or say that each number "+
			"is the name of a new class: --label-type name", s.where(t, more[0]), more[0], c.Classes[0])
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
	c.index = indexOf(c.Classes)
	return nil
}

// mistaken reports whether numbers that are no class of the dataset, whose classes have names, are
// hardly names of new ones: they were called indices, or there is nothing but such numbers.
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
		return fmt.Errorf("a column of numbers to predict has no separator (%q)", s.Sep)
	}
	for i, cell := range s.Cells {
		if text := strings.TrimSpace(cell); !isFloat(text) {
			return fmt.Errorf("%s: %q is no number (of the type float32, with a decimal point); a cell without a number is left empty", s.Where(i), text)
		}
	}
	return nil
}

func isFloat(text string) bool {
	_, ok := parseFloat(text)
	return ok
}

// Indices are the classes of a cell: none, or one, or with a separator several.
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

// Number is the number of a cell of the type Float; NaN if the cell is empty.
func (c *Column) Number(cell string) float32 {
	x, _ := parseFloat(strings.TrimSpace(cell))
	return x
}

// Field is the column as a field of that name.
func (c *Column) Field(name string) formats.Field {
	switch {
	case c.Type == Float:
		return formats.Field{Name: name, Kind: formats.Number, DType: formats.Float32}
	case c.Sep != "":
		return formats.Field{Name: name, Kind: formats.MultiHot, DType: formats.Uint8, Shape: []int{len(c.Classes)}, Classes: c.Classes}
	}
	return formats.Field{Name: name, Kind: formats.Label, DType: formats.Int64, Classes: c.Classes}
}
