package folder

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// descriptionSource gives each image the fields and columns of a table with a description.
type descriptionSource struct {
	*Description
	file  string // the table's name, for messages
	table *tables.Table
	// Positions of the designated image and label among the fields; -1 for none.
	image, designated int
	// Columns of the table; -1 if there is none.
	key, split int
	cells      []int // by field
	columns    []int // by user's column
	fieldFiles map[string]bool
}

func newDescriptionSource(in vfs.FS, cfg *Config) (*descriptionSource, error) {
	if len(cfg.LabelColumns) > 0 || cfg.LabelSep != "" || cfg.ClassOrder != "" || cfg.LabelType != "" {
		return nil, fmt.Errorf("%s already describes the columns: leave out --label-columns, --label-sep, --label-type and --class-order", cfg.Labels)
	}
	desc, err := readDescription(in, cfg.Labels)
	if err != nil {
		return nil, err
	}
	d := &descriptionSource{Description: desc, file: filepath.Join(filepath.Dir(cfg.Labels), desc.Table), image: desc.schema().ImageIndex()}
	d.designated = desc.schema().LabelIndex()
	if d.table, err = tables.Read(in, d.file); err != nil {
		return nil, err
	}
	if err := errors.Join(d.findColumns(), d.check()); err != nil {
		return nil, fmt.Errorf("%s: %w", d.file, err)
	}
	return d, nil
}

// findColumns finds the columns of the table.
func (d *descriptionSource) findColumns() error {
	var failed error
	at := func(column string) int {
		if column == "" {
			return -1
		}
		i, err := d.table.Column(column)
		failed = errors.Join(failed, err)
		return i
	}
	d.key, d.split = at(d.Key), at(d.Split)
	for i := range d.Fields {
		f := &d.Fields[i]
		d.cells = append(d.cells, at(f.Column))
		if f.Column == "" && i != d.image {
			failed = errors.Join(failed, fmt.Errorf("the description has no column for the field %s", f.Name))
		}
	}
	for _, c := range d.Columns {
		d.columns = append(d.columns, at(c.Column))
	}
	return failed
}

// check reads every cell once, so that errors in the table are reported before anything is
// packed.
func (d *descriptionSource) check() error {
	d.fieldFiles = map[string]bool{}
	keys := make(map[string]string, len(d.table.Paths))
	var value formats.Value
	for _, p := range d.table.Paths {
		row := d.table.Rows[p]
		key := d.keyOf(p, row)
		if before, twice := keys[key]; twice {
			return fmt.Errorf("%s and %s have the same key %q", before, p, key)
		}
		keys[key] = p
		for i, at := range d.cells {
			switch {
			case at < 0:
			case d.Fields[i].Kind.IsLabel():
				if err := d.Fields[i].set(&value, row[at]); err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
			case !filepath.IsLocal(filepath.FromSlash(row[at])):
				return fmt.Errorf("%s: column %s: %q is not a path in the folder", p, d.Fields[i].Column, row[at])
			default:
				d.fieldFiles[row[at]] = true
			}
		}
	}
	return nil
}

func (d *descriptionSource) keyOf(p string, row []string) string {
	if d.key >= 0 {
		return row[d.key]
	}
	return vfs.Stem(p)
}

// includes is false for files with extra fields of samples.
func (d *descriptionSource) includes(path string) bool { return !d.fieldFiles[path] }

// countKnownFiles returns the number of files in the folder that are not images by name and
// belong to the description.
func (d *descriptionSource) countKnownFiles(in vfs.FS) int {
	n := 0
	for name := range d.fieldFiles {
		if !vfs.HasImageName(name) {
			n++
		}
	}
	if root, ok := vfs.RootOnDisk(in); ok {
		if rel, err := filepath.Rel(root, d.file); err != nil || !filepath.IsLocal(rel) {
			return n
		}
	}
	return n + 2 // the table and its description lie in the folder
}

// label sets key, split, labels and columns of it, or returns why it is skipped.
func (d *descriptionSource) label(it *sample) (why string) {
	row, ok := d.table.Rows[it.Path]
	if !ok {
		return "it is not listed in " + d.file
	}
	it.key, it.row = d.keyOf(it.Path, row), row
	if err := formats.CheckKey(it.key); err != nil {
		return err.Error()
	}
	if d.split >= 0 {
		it.split = row[d.split]
	}
	it.columns = nil
	for _, at := range d.columns {
		it.columns = append(it.columns, row[at])
	}
	it.labels = []int64{formats.NoLabel}
	if l := d.designated; l >= 0 && d.Fields[l].Kind == formats.Label {
		if list, err := d.Fields[l].indices(row[d.cells[l]]); err == nil {
			it.labels[0] = firstOrNoLabel(list)
		}
	}
	return ""
}

// read sets the values of it except the designated image.
func (d *descriptionSource) read(in vfs.FS, it *sample, values []formats.Value) error {
	for i, at := range d.cells {
		if at < 0 {
			continue
		}
		f, v, cell := &d.Fields[i], &values[i], it.row[at]
		var err error
		if f.Kind.IsLabel() {
			err = f.set(v, cell)
		} else {
			err = readFieldFile(in, cell, f.Kind, v)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", it.Path, f.Column, err)
		}
	}
	return nil
}

// readFieldFile reads the file of a field that is neither the designated image nor a label.
func readFieldFile(in vfs.FS, name string, kind formats.Kind, v *formats.Value) error {
	st, err := in.Stat(name)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Size() > vfs.MaxFile {
		return fmt.Errorf("%s: not a regular file of at most %d bytes", name, int64(vfs.MaxFile))
	}
	data, err := in.Read(name, st.Size(), vfs.ModTime(st), v.Buffer())
	v.SetOwn(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	v.Encoding, v.DType = formats.Plain, ""
	v.SetShape()
	switch kind {
	case formats.Image, formats.Mask:
		v.Encoding = formats.Sniff(v.Data)
	case formats.Boxes, formats.Array:
		t, shape, offset, err := npy.Parse(v.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.Data, v.Encoding, v.DType = v.Data[offset:], formats.Raw, t
		v.SetShape(shape...)
	}
	return nil
}

func (d *descriptionSource) missing(in vfs.FS) []formats.Skip { return d.table.Missing(in, false) }

func (d *descriptionSource) userColumns() []string {
	var names []string
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return names
}
