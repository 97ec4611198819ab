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
	"github.com/dsconv/dsconv/internal/unblocked"
)

// unpackTable is the table of labels, one row per sample, and the description of its columns.
type unpackTable struct {
	*unpackPlan
	folder.Description
	header []string
	used   map[string]bool
}

// writeTable writes the table and its description.
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

// writeWhole writes a file that is complete or absent. An existing file is from an earlier run if it
// has the same content.
func (u *unpacker) writeWhole(name string, write func(io.Writer) error) error {
	to := filepath.Join(u.dir, name)
	if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
		return durable.Write(to, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if was, err := unblocked.ReadFile(to); err != nil || !bytes.Equal(was, b.Bytes()) {
		return errors.Join(foreignFileError(u.dir, name), err)
	}
	return nil
}

// clearTemporary removes what a kill left while one of those files was written.
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
	t.Version, t.Table, t.Renamed = folder.DescriptionVersion, t.table, m.Renamed
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

// rows writes the table as CSV or as JSON lines.
func (t *unpackTable) rows(w io.Writer) error {
	lines, objects := csv.NewWriter(w), json.NewEncoder(w)
	objects.SetEscapeHTML(false)
	asJSON := strings.HasSuffix(t.table, ".jsonl")
	if !asJSON {
		_ = lines.Write(t.header) // lines.Error returns the error
	}
	var s formats.Sample
	for at := range t.indices {
		row, err := t.row(at, &s)
		if err == nil && asJSON {
			object := make(map[string]string, len(row))
			for i, name := range t.header {
				object[name] = row[i]
			}
			err = objects.Encode(object)
		} else if err == nil {
			err = lines.Write(row)
		}
		if err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
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
