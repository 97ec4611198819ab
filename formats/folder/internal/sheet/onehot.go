package sheet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// HotSeparator is between the classes of a cell that join made. No name has it.
const HotSeparator = "\x1f"

// joinAdvice is the flag that makes one label of the columns.
func joinAdvice(columns []string) string {
	return "--label-columns label=" + strings.Join(columns, ",label=")
}

// isSet reports what a cell says of the class that its column is; ok is false if that is not 0 or 1.
func isSet(cell string) (set, ok bool) {
	cell = strings.TrimSpace(cell)
	if x, err := strconv.ParseFloat(cell, 64); err == nil {
		return x == 1, x == 0 || x == 1
	}
	set, err := strconv.ParseBool(cell)
	return set, cell == "" || err == nil
}

func isHot(cell string) bool { _, ok := isSet(cell); return ok }

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return err == nil
}

// all reports whether all cells of the columns are such.
func (s *Sheet) all(columns []string, such func(cell string) bool) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		at := slices.Index(s.Header, name)
		return at < 0 || slices.ContainsFunc(s.Rows, func(row []string) bool { return !such(row[at]) })
	})
}

// join makes the label columns, each of which is a class, one column at the end: its cells list the classes that are set.
func (s *Sheet) join(r *Roles) error {
	classes := map[int]string{}
	for _, name := range r.Labels {
		at := slices.Index(s.Header, name)
		if at < 0 {
			return fmt.Errorf("no column %q among %s", name, ListNames(s.Header))
		}
		classes[at] = name
	}
	for i, row := range s.Rows {
		var left, set []string
		for c, cell := range row {
			on, ok := isSet(cell)
			switch name, is := classes[c]; {
			case !is:
				left = append(left, cell)
			case !ok:
				return fmt.Errorf("line %d: the column %s has %q: a column that is a class has 0 or 1", s.Lines[i], name, cell)
			case on:
				set = append(set, name)
			}
		}
		s.Rows[i] = append(left, strings.Join(set, HotSeparator))
	}
	s.Header = append(slices.DeleteFunc(slices.Clone(s.Header), func(name string) bool { return slices.Contains(r.Labels, name) }), r.Field)
	s.notes = append(s.notes, "each of the columns "+ListNames(r.Labels)+" is a class")
	s.Classes, r.Labels = r.Labels, []string{r.Field}
	return nil
}
