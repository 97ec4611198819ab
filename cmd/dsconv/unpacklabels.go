package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
)

// unpackTable is the table of labels, one row per sample, and the description of its columns.
type unpackTable struct {
	*unpackPlan
	folder.Description
	header []string
	used   map[string]bool
}

// writeTable writes the table and its description, each completely or not at all.
func (u *unpacker) writeTable() error {
	t := &unpackTable{unpackPlan: u.plan, used: map[string]bool{}}
	t.describe()
	described, err := t.Encode()
	if err != nil {
		return err
	}
	if err := u.clearTemporary(t.table, t.description()); err != nil {
		return err
	}
	if err := u.writeWhole(t.table, t.rows); err != nil {
		return err
	}
	return u.writeWhole(t.description(), func(w io.Writer) error {
		_, err := w.Write(described)
		return err
	})
}

// writeWhole writes a file completely or not at all. An existing file with the same content is from an
// earlier run; with other content it is an error.
func (u *unpacker) writeWhole(name string, write func(io.Writer) error) error {
	to := filepath.Join(u.dir, name)
	if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
		return durable.Write(to, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if was, err := os.ReadFile(to); err != nil || !bytes.Equal(was, b.Bytes()) {
		return errors.Join(foreignFileError(u.dir, name), err)
	}
	return nil
}

// clearTemporary removes the temporary files of a run that was killed while it wrote those files.
func (u *unpacker) clearTemporary(names ...string) error {
	entries, err := fs.ReadDir(u.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, name := range names {
			if durable.IsTemporary(e.Name()) && strings.HasPrefix(e.Name(), "."+name+".") {
				err = errors.Join(err, u.root.Remove(e.Name()))
			}
		}
	}
	return err
}

// describe names the table's columns, each differently.
func (t *unpackTable) describe() {
	m := t.ds.Meta()
	t.Version, t.Table = folder.DescriptionVersion, t.table
	t.column("path")
	if t.keysDiffer {
		t.Key = t.column("key")
	}
	if t.hasSplits && !t.splitIsColumn {
		t.Split = t.column("split")
	}
	for i, f := range m.Schema {
		if i == m.Schema.ImageIndex() {
			t.Fields = append(t.Fields, folder.DescribeField(f, ""))
			continue
		}
		t.Fields = append(t.Fields, folder.DescribeField(f, t.column(f.Name)))
	}
	for _, name := range m.Columns {
		c := folder.UserColumn{Name: name, Column: t.column(name)}
		if t.hasSplits && t.splitIsColumn && name == "split" {
			t.Split = c.Column
		}
		t.Columns = append(t.Columns, c)
	}
}

// column adds a column with that name, or a similar one if it is taken, and returns its name.
func (t *unpackTable) column(name string) string {
	free := strings.TrimSpace(name)
	if free == "" {
		free = "column"
	}
	for i := 2; t.used[free]; i++ {
		free = fmt.Sprintf("%s_%d", strings.TrimSpace(name), i)
	}
	t.used[free] = true
	t.header = append(t.header, free)
	return free
}

// rows writes the table's rows.
func (t *unpackTable) rows(w io.Writer) error {
	write, flush := csvRows(w, t.header)
	if strings.HasSuffix(t.table, ".jsonl") {
		write, flush = jsonRows(w, t.header)
	}
	var s formats.Sample
	for at := range t.indices {
		row, err := t.row(at, &s)
		if err == nil {
			err = write(row)
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

func (t *unpackTable) row(at int, s *formats.Sample) ([]string, error) {
	i := int(t.indices[at])
	in, err := t.ds.Info(i)
	if err != nil {
		return nil, err
	}
	if err := t.ds.Read(i, s); err != nil {
		return nil, err
	}
	row := []string{t.names[at]}
	if t.Key != "" {
		row = append(row, in.Key)
	}
	if t.Split != "" && !t.splitIsColumn {
		row = append(row, in.Split)
	}
	for j := range t.Fields {
		switch c := &t.Fields[j]; {
		case c.Column == "":
		case c.Kind.IsLabel():
			row = append(row, c.Cell(&s.Values[j]))
		default:
			row = append(row, t.fieldFileName(at, &c.Field, s.Values[j].Encoding))
		}
	}
	return append(row, in.Columns...), nil
}

func csvRows(w io.Writer, header []string) (row func([]string) error, flush func() error) {
	c := csv.NewWriter(w)
	failed := c.Write(header)
	return c.Write, func() error {
		c.Flush()
		return errors.Join(failed, c.Error())
	}
}

func jsonRows(w io.Writer, header []string) (row func([]string) error, flush func() error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return func(cells []string) error {
		object := make(map[string]string, len(header))
		for i, name := range header {
			object[name] = cells[i]
		}
		return e.Encode(object)
	}, func() error { return nil }
}
