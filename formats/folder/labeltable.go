package folder

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// table is a parsed file of labels: one row per path.
type table struct {
	columns     []string            // without the path column, in the file's order
	rows        map[string][]string // by path
	paths       []string            // paths in the file's order
	lineNumbers []int               // of each path
	nested      map[string]int      // columns that have an object or a list, and the first line of one
}

// sheet is the content of a file of labels, before its columns are interpreted.
type sheet struct {
	header []string
	rows   [][]string
	lines  []int // of each row, from 1
	nested map[string]int
}

// maxColumns bounds the number of a table's columns: each becomes a column of the manifest.
const maxColumns = 10_000

// readTable reads a .csv, .tsv or .jsonl file. Errors name the file, the line and what
// was expected.
func readTable(in filesystem, file string) (*table, error) {
	b, err := readText(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	t, err := parseTable(b, strings.ToLower(path.Ext(file)), in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func parseTable(b []byte, ext string, in filesystem) (*table, error) {
	s, err := parseSheet(b, ext)
	if err != nil {
		return nil, err
	}
	return newTable(s, in)
}

func parseSheet(b []byte, ext string) (*sheet, error) {
	switch ext {
	case ".csv":
		return readCSV(b, ',')
	case ".tsv":
		return readCSV(b, '\t')
	case ".jsonl":
		return readJSONL(b)
	}
	return nil, errors.New("unknown extension for labels: give a .csv, .tsv or .jsonl file")
}

func newTable(s *sheet, in filesystem) (*table, error) {
	at := slices.Index(s.header, "path")
	if at < 0 {
		at = slices.Index(s.header, "file_name")
	}
	if at < 0 {
		return nil, fmt.Errorf("no column \"path\" or \"file_name\" among %s", listNames(s.header))
	}
	if line, ok := s.nested[s.header[at]]; ok {
		return nil, fmt.Errorf("line %d: %s is a list or an object, but must be a text", line, s.header[at])
	}
	if len(s.rows) == 0 {
		return nil, errors.New("it has a header and no rows")
	}
	t := &table{columns: slices.Delete(slices.Clone(s.header), at, at+1), rows: make(map[string][]string, len(s.rows)), lineNumbers: s.lines, nested: s.nested}
	if err := unique(s.header); err != nil {
		return nil, err
	}
	first := make(map[string]int, len(s.rows))
	for i, row := range s.rows {
		p, err := relative(in, row[at])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.lines[i], err)
		}
		if line, twice := first[p]; twice {
			return nil, fmt.Errorf("line %d: the path %q is a duplicate of line %d", s.lines[i], p, line)
		}
		first[p] = s.lines[i]
		t.rows[p] = slices.Delete(row, at, at+1)
		t.paths = append(t.paths, p)
	}
	return t, nil
}

func unique(header []string) error {
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

// relative returns a table's path relative to the root. It may lead outside: then no file of the
// folder has it.
func relative(in filesystem, p string) (string, error) {
	if p == "" {
		return "", errors.New("the path is empty")
	}
	if !filepath.IsAbs(p) {
		return path.Clean(p), nil
	}
	return in.relative(p)
}

// column returns the position of the named column; the error lists the existing ones.
func (t *table) column(name string) (int, error) {
	i := slices.Index(t.columns, name)
	if i < 0 {
		return 0, fmt.Errorf("no column %q among %s", name, listNames(t.columns))
	}
	return i, nil
}

// listNames lists names for a message, not too many and each shortened if it is long.
func listNames(names []string) string {
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
