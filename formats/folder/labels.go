package folder

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is a file of labels: a row a path.
type table struct {
	columns []string            // without the path's, in the file's order
	rows    map[string][]string // by path
	lines   []string            // paths in the file's order
}

// readTable reads a .csv, .tsv or .jsonl file. Errors name the file, the line and what
// was expected.
func readTable(file, root string) (*table, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("%s: it is not UTF-8: save it as UTF-8", file)
	}
	var header []string
	var rows [][]string
	switch strings.ToLower(path.Ext(file)) {
	case ".csv":
		header, rows, err = readCSV(b, ',')
	case ".tsv":
		header, rows, err = readCSV(b, '\t')
	case ".jsonl":
		header, rows, err = readJSONL(b)
	default:
		return nil, fmt.Errorf("%s: labels are read from .csv, .tsv and .jsonl files", file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t, err := newTable(header, rows, root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func readCSV(b []byte, comma rune) (header []string, rows [][]string, err error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = comma
	r.LazyQuotes = comma == '\t'
	if header, err = r.Read(); errors.Is(err, io.EOF) {
		return nil, nil, errors.New("it is empty")
	} else if err != nil {
		return nil, nil, err
	}
	rows, err = r.ReadAll()
	return header, rows, err
}

// readJSONL reads an object a line. Lines may have different names; the columns are all of
// them, sorted, because an object has no order of its own.
func readJSONL(b []byte) (header []string, rows [][]string, err error) {
	var objects []map[string]json.RawMessage
	names := map[string]bool{}
	line := 0
	for text := range bytes.Lines(b) {
		if line++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		objects = append(objects, object)
		for name := range object {
			names[name] = true
		}
	}
	header = slices.Sorted(maps.Keys(names))
	for _, object := range objects {
		row := make([]string, len(header))
		for i, name := range header {
			row[i] = cell(object[name])
		}
		rows = append(rows, row)
	}
	return header, rows, nil
}

func cell(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func newTable(header []string, rows [][]string, root string) (*table, error) {
	at := slices.Index(header, "path")
	if at < 0 {
		at = slices.Index(header, "file_name")
	}
	if at < 0 {
		return nil, fmt.Errorf("no column \"path\" or \"file_name\" among %s", strings.Join(header, ", "))
	}
	t := &table{columns: slices.Delete(slices.Clone(header), at, at+1), rows: make(map[string][]string, len(rows))}
	for i, name := range t.columns {
		if slices.Contains(t.columns[:i], name) {
			return nil, fmt.Errorf("two columns are called %q", name)
		}
	}
	for _, row := range rows {
		p := row[at]
		if filepath.IsAbs(p) {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return nil, err
			}
			p = filepath.ToSlash(rel)
		}
		p = path.Clean(p)
		if _, twice := t.rows[p]; twice {
			return nil, fmt.Errorf("the path %q is there twice", p)
		}
		t.rows[p] = slices.Delete(slices.Clone(row), at, at+1)
		t.lines = append(t.lines, p)
	}
	return t, nil
}

// column is the place of a column of that name; the error lists those that there are.
func (t *table) column(name string) (int, error) {
	i := slices.Index(t.columns, name)
	if i < 0 {
		return 0, fmt.Errorf("no column %q among %s", name, strings.Join(t.columns, ", "))
	}
	return i, nil
}
