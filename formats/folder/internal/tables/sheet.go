package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// Sheet is the content of a file of labels, before its columns are interpreted.
type Sheet struct {
	Header []string
	Rows   [][]string
	Lines  []int // of each row, from 1
	nested map[string]int
	// known says what the file is, if its content is that of a well-known one.
	known string
	// byClass: images may be in a folder named like their label.
	byClass bool
	// classes are all classes that the file knows, besides those that occur in its rows.
	classes []string
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
		return readLines(b)
	}
	return nil, errors.New("unknown extension for labels: give a .csv, .tsv, .jsonl, .json, .txt or .parquet file")
}

// checkColumnCount returns an error if a table cannot have n columns.
func checkColumnCount(n int) error {
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

// column returns the cells of a column.
func (s *Sheet) column(at int) []string {
	list := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		list[i] = row[at]
	}
	return list
}

// notices says how a file was read, where that is not evident.
func (s *Sheet) notices(r *Roles, file, paths string) []string {
	var list []string
	prefix := file + ": "
	if s.known != "" {
		list = append(list, prefix+s.known)
	} else if r.path != "path" && r.path != "file_name" || r.Field != "" {
		text := fmt.Sprintf("the column %q has the paths", r.path)
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

// readParquet is parseParquet for a file on the disk.
func readParquet(file string) (*Sheet, error) {
	f, err := parquetfile.Open(file)
	if err != nil {
		return nil, err
	}
	s, err := parquetSheet(f)
	return s, errors.Join(err, f.Close())
}

// parseParquet reads the columns of the Parquet file b that have one value in each row. Errors name the file.
func parseParquet(name string, b []byte) (*Sheet, error) {
	f, err := parquetfile.Parse(name, b, parquetfile.Limits{})
	if err != nil {
		return nil, err
	}
	return parquetSheet(f)
}

const (
	// freeCells bytes of cells are read of any Parquet file; a larger one may have maxCellRatio for each of its bytes. Runs of
	// equal values take no bytes in the file, but a table's rows differ.
	freeCells    = 256 << 20
	maxCellRatio = 64
	cellBytes    = 16 // of a string, besides its text
)

func parquetSheet(f *parquetfile.File) (*Sheet, error) {
	s := &Sheet{}
	var columns []int // of the file
	for i := range f.Columns() {
		if c := &f.Columns()[i]; len(c.Path) == 1 && c.IsRead() {
			columns, s.Header = append(columns, i), append(s.Header, c.Path[0])
		} else if len(c.Path) == 1 && !c.IsList() {
			s.notes = append(s.notes, fmt.Sprintf("the column %q is left out: its type is not read", c.Name()))
		}
	}
	if err := checkColumnCount(len(s.Header)); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if len(s.Header) == 0 {
		return nil, fmt.Errorf("%s: it has no column with one value in each row", f.Path)
	}
	left := max(freeCells, maxCellRatio*f.Size())
	take := func(n int) error {
		if left -= n; left < 0 {
			return fmt.Errorf("%s: its %d bytes have more cells than any table of labels: %d rows of %d columns", f.Path, f.Size(), f.Rows(), len(columns))
		}
		return nil
	}
	if err := take(f.Rows() * (len(columns)*cellBytes + 2*cellBytes)); err != nil {
		return nil, err
	}
	for i := range f.Rows() {
		s.Rows, s.Lines = append(s.Rows, make([]string, len(columns))), append(s.Lines, i+1)
	}
	for k, column := range columns {
		err := f.Each(column, func(row int, v *parquetfile.Values, i int) error {
			text, _ := v.Text(&f.Columns()[column], i)
			s.Rows[row][k] = text
			return take(len(text))
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}
