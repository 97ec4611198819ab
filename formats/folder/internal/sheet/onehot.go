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
	const most = 20
	if len(columns) > most {
		return "--label-columns with label=COLUMN for each"
	}
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

// areHot reports whether all cells of the columns are 0 or 1.
func (s *Sheet) areHot(columns []string) bool {
	return s.all(columns, func(cell string) bool { _, ok := isSet(cell); return ok })
}

// areNumbers reports whether all cells of the columns are numbers.
func (s *Sheet) areNumbers(columns []string) bool {
	return s.all(columns, func(cell string) bool { _, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); return err == nil })
}

func (s *Sheet) all(columns []string, is func(cell string) bool) bool {
	for _, name := range columns {
		at := slices.Index(s.Header, name)
		if at < 0 || slices.ContainsFunc(s.Rows, func(row []string) bool { return !is(row[at]) }) {
			return false
		}
	}
	return len(s.Rows) > 0
}

// join makes the label columns, each of which is a class, one column in the place of the first: its cells list the
// classes that are set.
func (s *Sheet) join(r *Roles) error {
	at := make([]int, len(r.Labels))
	for k, name := range r.Labels {
		if at[k] = slices.Index(s.Header, name); at[k] < 0 {
			return fmt.Errorf("no column %q among %s", name, ListNames(s.Header))
		}
	}
	for i, row := range s.Rows {
		var set []string
		for k, c := range at {
			on, ok := isSet(row[c])
			if !ok {
				return fmt.Errorf("line %d: the column %s has %q: a column that is a class has 0 or 1", s.Lines[i], r.Labels[k], row[c])
			}
			if on {
				set = append(set, r.Labels[k])
			}
		}
		row[at[0]] = strings.Join(set, HotSeparator)
	}
	pick := func(row []string) []string {
		var left []string
		for c, cell := range row {
			if c == at[0] || !slices.Contains(at, c) {
				left = append(left, cell)
			}
		}
		return left
	}
	s.Header[at[0]] = r.Field
	s.Header = pick(s.Header)
	for i := range s.Rows {
		s.Rows[i] = pick(s.Rows[i])
	}
	s.notes = append(s.notes, "each of the columns "+ListNames(r.Labels)+" is a class")
	s.Classes, r.Labels = r.Labels, []string{r.Field}
	return nil
}
