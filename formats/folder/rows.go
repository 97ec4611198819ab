package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Rows is a table about samples of an existing dataset.
type Rows struct {
	By      string              // the column that identifies the sample
	Columns []string            // the others, in the file's order
	Rows    map[string][]string // by the cell of By
}

// ReadRows reads a .csv, .tsv, .jsonl or .parquet file. The first of the columns by that the file has
// identifies the samples. Errors name the file, the line and what was expected.
func ReadRows(file string, by ...string) (*Rows, error) {
	s, err := tables.ReadSheet(vfs.OnDisk(""), file)
	if err == nil {
		var r *Rows
		if r, err = rowsBy(s, by); err == nil {
			return r, nil
		}
		err = fmt.Errorf("%s: %w", file, err)
	}
	return nil, err
}

func rowsBy(s *tables.Sheet, names []string) (*Rows, error) {
	i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(s.Header, name) })
	switch {
	case i < 0:
		return nil, fmt.Errorf("no column %s among %s", strings.Join(names, ", "), tables.ListNames(s.Header))
	case len(s.Rows) == 0:
		return nil, errors.New("it has a header and no rows")
	}
	if err := tables.Unique(s.Header); err != nil {
		return nil, err
	}
	at := slices.Index(s.Header, names[i])
	r := &Rows{By: names[i], Columns: slices.Delete(slices.Clone(s.Header), at, at+1), Rows: make(map[string][]string, len(s.Rows))}
	for k, row := range s.Rows {
		name := row[at]
		if _, twice := r.Rows[name]; twice {
			return nil, fmt.Errorf("line %d: duplicate %s %q", s.Lines[k], r.By, name)
		}
		r.Rows[name] = slices.Delete(slices.Clone(row), at, at+1)
	}
	return r, nil
}

// metadataNotices names the tables that Hugging Face's imagefolder reads by itself, and dsconv only if it is told to:
// in the root, or in a folder of a split.
func metadataNotices(in vfs.FS) (list []string) {
	for _, dir := range append([]string{""}, formats.SplitWords()...) {
		for _, name := range []string{"metadata.csv", "metadata.jsonl"} {
			file := path.Join(dir, name)
			if st, err := in.Stat(file); err != nil || !st.Mode().IsRegular() {
				continue
			}
			columns := columnsOf(in, in.Join(file))
			if !slices.Contains(columns, "file_name") {
				continue
			}
			option := "--labels " + in.Join(file)
			if dir != "" {
				option = fmt.Sprintf("--labels %s=%s", dir, in.Join(file))
			}
			list = append(list, fmt.Sprintf("%s lists %s, and is not read: give %s", file, strings.Join(columns, ", "), option))
		}
	}
	return list
}

// columnsOf returns the columns of a table, as its first line has them; nil if that cannot be read.
func columnsOf(in vfs.FS, file string) []string {
	f, err := in.OpenText(file)
	if err != nil {
		return nil // a notice is not worth an error
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 1<<16)).ReadBytes('\n') // the only line may have no end
	s, err := tables.Parse(bytes.TrimPrefix(line, []byte("\ufeff")), path.Ext(file))
	if err != nil {
		return nil
	}
	return s.Header
}
