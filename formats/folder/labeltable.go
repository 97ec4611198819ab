package folder

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// table is a parsed file of labels, or several: one row per path.
type table struct {
	columns     []string            // without the path column, in the file's order
	rows        map[string][]string // by path
	paths       []string            // paths in the file's order
	exists      []bool              // whether the file of each path exists; nil if not known yet
	lineNumbers []int               // of each path
	nested      map[string]int      // columns that have an object or a list, and the first line of one
	files       []tablePart         // the files that the rows are from
	fits        map[string][]string // images that a path without extension may mean, if they are several
}

// tablePart is a file of a table and its first row.
type tablePart struct {
	labelFile
	first int
}

// sheet is the content of a file of labels, before its columns are interpreted.
type sheet struct {
	header []string
	rows   [][]string
	lines  []int // of each row, from 1
	nested map[string]int
	// known says what the file is, if its content is that of a well-known one.
	known string
	// byClass: images may be in a folder named like their label.
	byClass bool
	// classes are all classes that the file knows, besides those that occur in its rows.
	classes []string
}

// maxColumns bounds the number of a table's columns: each becomes a column of the manifest.
const maxColumns = 10_000

// readTable reads the table of a description, whose paths are in the column "path" and exact. Errors name the
// file, the line and what was expected.
func readTable(in filesystem, file string) (*table, error) {
	s, err := readSheet(in, labelFile{"", file})
	if err != nil {
		return nil, err
	}
	r := columnRoles{}
	if r.path, err = s.pathColumn(); err == nil {
		var t *table
		if t, err = newTable(s, &r, func(p string) (foundPath, error) {
			rel, err := relative(in, p)
			return foundPath{path: rel}, err
		}); err == nil {
			t.exists = nil
			t.files = []tablePart{{labelFile{"", file}, 0}}
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", file, err)
}

// readSheet reads a file of labels of any kind. Errors name the file.
func readSheet(in filesystem, f labelFile) (*sheet, error) {
	if s, err := readDevkit(in, f); s != nil || err != nil {
		return s, err
	}
	b, err := readText(in, f.file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	s, err := parseSheet(b, strings.ToLower(path.Ext(f.file)))
	if err == nil {
		err = s.recognize()
	}
	if err == nil && s.known == groundTruth {
		return readGroundTruth(in, f, b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	return s, nil
}

func parseSheet(b []byte, ext string) (*sheet, error) {
	switch ext {
	case ".csv":
		return readCSV(b, ',')
	case ".tsv":
		return readCSV(b, '\t')
	case ".jsonl", ".ndjson":
		return readJSONL(b)
	case ".json":
		return readJSON(b)
	case ".txt", ".lst":
		return readLines(b)
	}
	return nil, errors.New("unknown extension for labels: give a .csv, .tsv, .jsonl, .json or .txt file")
}

// newTable makes the rows of a sheet those of the files that locate returns for their paths.
func newTable(s *sheet, r *columnRoles, locate func(p string) (foundPath, error)) (*table, error) {
	at, err := s.position(r)
	if err != nil {
		return nil, err
	}
	t := &table{columns: slices.Delete(slices.Clone(s.header), at, at+1), rows: make(map[string][]string, len(s.rows)), lineNumbers: s.lines, nested: s.nested}
	first := make(map[string]int, len(s.rows))
	for i, row := range s.rows {
		f, err := locate(row[at])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.lines[i], err)
		}
		if line, twice := first[f.path]; twice {
			return nil, fmt.Errorf("line %d: the path %q is a duplicate of line %d", s.lines[i], f.path, line)
		}
		first[f.path] = s.lines[i]
		t.rows[f.path] = slices.Delete(row, at, at+1)
		t.paths, t.exists = append(t.paths, f.path), append(t.exists, f.exists)
	}
	return t, nil
}

// fileOf returns the file that row i is from.
func (t *table) fileOf(i int) *labelFile {
	k := len(t.files) - 1
	for k > 0 && t.files[k].first > i {
		k--
	}
	return &t.files[k].labelFile
}

// where returns the place of row i for messages, which name the file only if the table has several.
func (t *table) where(i int) string {
	if len(t.files) > 1 {
		return fmt.Sprintf("%s: line %d", t.fileOf(i).file, t.lineNumbers[i])
	}
	return fmt.Sprintf("line %d", t.lineNumbers[i])
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
