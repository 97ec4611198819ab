package folder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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

// parseSheet reads the content of a file with the extension ext.
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

func checkColumnCount(n int) error {
	if n > maxColumns {
		return fmt.Errorf("it has %d columns, the limit is %d", n, maxColumns)
	}
	return nil
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

// paths returns the cells of the column of paths.
func (s *sheet) paths(at int) []string {
	list := make([]string, len(s.rows))
	for i, row := range s.rows {
		list[i] = row[at]
	}
	return list
}

// putInClassFolders makes paths those of images in folders named like their labels.
func (s *sheet) putInClassFolders(at int, label string) {
	k := slices.Index(s.header, label)
	for _, row := range s.rows {
		row[at] = row[k] + "/" + row[at]
	}
}

// notices says how a file was read, where that is not evident.
func (s *sheet) notices(r *columnRoles, file, paths string) []string {
	var list []string
	prefix := file + ": "
	if s.known != "" {
		list = append(list, prefix+s.known)
	} else if r.path != "path" && r.path != "file_name" || r.field != "" {
		text := fmt.Sprintf("the column %q has the paths", r.path)
		if len(r.labels) == 1 {
			text += fmt.Sprintf(", the column %q the labels", r.labels[0])
		}
		list = append(list, prefix+text)
	}
	if paths != "" {
		list = append(list, prefix+paths)
	}
	return list
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

// orNone lists names for a message, of which there may be none.
func orNone(columns []string) string {
	if len(columns) == 0 {
		return "none"
	}
	return listNames(columns)
}
