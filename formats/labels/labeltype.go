package labels

import (
	"fmt"
	"slices"
	"strings"
)

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
