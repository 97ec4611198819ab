// Package sheet reads files of labels as rows of cells: CSV, TSV, JSON, JSON Lines, lines of text, Parquet. It finds the
// columns of the paths and of the labels, and looks at no image.
package sheet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Sheet is the content of a file of labels, before its columns are interpreted.
type Sheet struct {
	Header []string
	Rows   [][]string
	Lines  []int // of each row, from 1
	Nested map[string]int
	// Known says what the file is, if its content is that of a well-known one.
	Known string
	// ByClass: images may be in a folder named like their label.
	ByClass bool
	// Classes are all classes that the file knows, besides those that occur in its rows.
	Classes []string
	// notes say what was done otherwise than usual.
	notes []string

	text   bool // lines without a header
	spaced bool // the label of a line follows its last space
	comma  rune // of a file with a header and one row on each line; 0 for others
}

// maxColumns bounds the number of a table's columns: each becomes a column of the manifest.
const maxColumns = 10_000

// Parse reads the content of a file with the extension ext.
func Parse(b []byte, ext string) (*Sheet, error) {
	switch ext {
	case ".csv":
		return readSeparated(b, ',')
	case ".tsv":
		return readSeparated(b, '\t')
	case ".jsonl", ".ndjson":
		return readJSONL(b)
	case ".json":
		return readJSON(b)
	case ".txt", ".lst":
		return ReadLines(b)
	}
	return nil, errors.New("unknown extension for labels: give a .csv, .tsv, .jsonl, .json, .txt or .parquet file")
}

// CheckColumnCount returns an error if a table cannot have n columns.
func CheckColumnCount(n int) error {
	if n > maxColumns {
		return fmt.Errorf("it has %d columns, the limit is %d", n, maxColumns)
	}
	return nil
}

// Unique returns an error if two columns have one name, or one has none.
func Unique(header []string) error {
	seen := make(map[string]bool, len(header))
	for i, name := range header {
		switch {
		case name == "":
			return fmt.Errorf("column %d of %d has no name", i+1, len(header))
		case seen[name]:
			return fmt.Errorf("two columns are named %q", name)
		}
		seen[name] = true
	}
	return nil
}

// Column returns the cells of a column.
func (s *Sheet) Column(at int) []string {
	list := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		list[i] = row[at]
	}
	return list
}

// Notices says how a file was read, where that is not evident.
func (s *Sheet) Notices(r *Roles, file, paths string) []string {
	var list []string
	prefix := file + ": "
	if s.Known != "" {
		list = append(list, prefix+s.Known)
	} else if r.Path != "path" && r.Path != "file_name" || r.Field != "" {
		text := fmt.Sprintf("the column %q has the paths", r.Path)
		if len(r.Labels) == 1 {
			text += fmt.Sprintf(", the column %q the labels", r.Labels[0])
		}
		list = append(list, prefix+text)
	}
	if others := s.others(r); len(r.Labels) == 0 && !r.none && len(others) > 0 {
		list = append(list, prefix+"no column of labels among "+ListNames(others)+"; if one has them, name it: --label-columns label=COLUMN")
	}
	for _, note := range append(s.notes, paths) {
		if note != "" {
			list = append(list, prefix+note)
		}
	}
	return list
}

// ListNames lists names for a message, not too many and each shortened if it is long.
func ListNames(names []string) string {
	const maxNames, maxLength = 20, 60
	list := slices.Clone(names[:min(len(names), maxNames)])
	for i, name := range list {
		if len(name) > maxLength {
			name = name[:maxLength] + "..."
		}
		list[i] = name
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\ufffd' }) {
			list[i] = fmt.Sprintf("%q", name)
		}
	}
	if len(names) > maxNames {
		list = append(list, fmt.Sprintf("and %d more", len(names)-maxNames))
	}
	return strings.Join(list, ", ")
}

// ListOrNone lists names for a message, of which there may be none.
func ListOrNone(columns []string) string {
	if len(columns) == 0 {
		return "none"
	}
	return ListNames(columns)
}
