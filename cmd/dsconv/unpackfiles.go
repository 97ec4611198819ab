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
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// write writes a file in the folder. An existing file is completed if an interrupted unpack left it;
// any other existing file is an error.
func (u *unpacker) write(name string, data []byte, modTime int64) error {
	name = filepath.FromSlash(name)
	if err := u.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		f, err = u.reopen(name, data)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if modTime != 0 {
		t := time.Unix(0, modTime)
		return u.root.Chtimes(name, t, t)
	}
	return nil
}

// reopen opens a file that an interrupted unpack left.
func (u *unpacker) reopen(name string, data []byte) (*os.File, error) {
	if st, err := u.root.Lstat(name); err != nil || !st.Mode().IsRegular() || st.Size() > int64(len(data)) {
		return nil, errors.Join(foreignFileError(u.dir, name), err)
	}
	f, err := u.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	was, err := io.ReadAll(f)
	if err == nil && !isUnfinishedCopy(was, data) {
		err = foreignFileError(u.dir, name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func foreignFileError(dir, name string) error {
	return fmt.Errorf("%s: %w: its content is not the dataset's; move it away", filepath.Join(dir, name), formats.ErrForeign)
}

// isUnfinishedCopy reports whether was is an incomplete copy of data: a prefix of it, perhaps followed
// by zeros, which a power cut leaves for bytes that were not on the disk yet.
func isUnfinishedCopy(was, data []byte) bool {
	for i := range was {
		if was[i] != data[i] {
			return len(bytes.Trim(was[i:], "\x00")) == 0
		}
	}
	return true
}

// fieldFileName returns the name of the file of a field that is neither the main image nor a label.
func (p *unpackPlan) fieldFileName(at int, f *formats.Field, enc formats.Encoding) string {
	ext := ".bin"
	switch f.Kind {
	case formats.Image, formats.Mask:
		ext = fileEncoding(enc).Extension()
	case formats.Text:
		ext = ".txt"
	case formats.JSON:
		ext = ".json"
	case formats.Boxes, formats.Array:
		ext = ".npy"
	}
	return p.bases[at] + "." + f.Name + ext
}

// fieldFileData returns the content of that file.
func fieldFileData(f *formats.Field, v *formats.Value, coder *pngCoder) ([]byte, error) {
	switch f.Kind {
	case formats.Image, formats.Mask:
		if err := coder.toPNG(v); err != nil {
			return nil, err
		}
	case formats.Boxes, formats.Array:
		return append(npy.AppendHeader(nil, v.DType, v.Shape), v.Data...), nil
	}
	return v.Data, nil
}

// fileEncoding returns the encoding of the file that an image of encoding e is written to.
func fileEncoding(e formats.Encoding) formats.Encoding {
	if e.IsRaw() {
		return formats.PNG
	}
	return e
}

// markerName is a file in a folder that is not complete. No command reads a folder that has it.
const markerName = folder.UnfinishedName

// markerContent is the content of the marker file.
type markerContent struct {
	Unpack string `json:"dsconv_unpack"` // the fingerprint
}

// createMarker creates the marker of an empty folder, or opens that of the same unpack, and locks it:
// only one process at a time writes into the folder.
func createMarker(root *os.Root, dir, fingerprint string) (*os.File, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	flags := os.O_RDWR
	switch {
	case len(entries) == 0:
		flags |= os.O_CREATE | os.O_EXCL
	case !slices.ContainsFunc(entries, isMarker):
		return nil, fmt.Errorf("%s is not empty: unpack into a new folder", dir)
	}
	f, err := root.OpenFile(markerName, flags, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockMarker(f, dir, fingerprint, len(entries) <= 1); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isMarker(e fs.DirEntry) bool { return e.Name() == markerName && e.Type().IsRegular() }

// lockMarker locks the marker and compares its content. alone means that the folder has no other file.
func lockMarker(f *os.File, dir, fingerprint string, alone bool) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w: wait for the other dsconv unpack", dir, formats.ErrLocked)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	var was markerContent
	parses := json.Unmarshal(b, &was) == nil
	switch {
	case parses && was.Unpack == fingerprint:
		return nil
	case !alone:
		return fmt.Errorf("%s: %w of another dataset or split, or the dataset has changed: repeat the command that started it, or unpack into a new folder", dir, errUnfinishedUnpack)
	}
	if b, err = json.Marshal(markerContent{fingerprint}); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return f.Sync()
}

var errUnfinishedUnpack = errors.New("an unfinished unpack")

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
