package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
)

var (
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadFileFS = (*FS)(nil)
)

// String returns the path of the archive, and that of the root in it.
func (f *FS) String() string { return path.Join(f.path, f.root) }

// Identify writes what tells the archive, and the root in it, from others. It reads no member.
func (f *FS) Identify(w io.Writer) error {
	if w == nil {
		return fmt.Errorf("%s: Identify into a nil io.Writer", f.path)
	}
	for _, p := range slices.SortedFunc(slices.Values(f.parts), func(a, b *part) int { return strings.Compare(a.folder, b.folder) }) {
		if _, err := fmt.Fprintf(w, "%q %v\n", path.Join(p.path, cmp.Or(f.root, p.root)), p.was.Identity()); err != nil {
			return err
		}
	}
	return nil
}

// Refused lists the members that Stat and Open cannot name, with the cause. A path that ends in "/" is that of a
// folder, or of an archive in the archive, or the file name of the archive, of which something is missing.
// The caller owns the list.
func (f *FS) Refused() []formats.Skip { return f.index.refusedBelow(f.root, path.Base(f.path)+"/") }

// refusedBelow lists the members of an archive with that name that are refused, by their paths in root.
func (x *index) refusedBelow(root, name string) (all []formats.Skip) {
	for _, r := range x.refused {
		if r.Path == "/" {
			r.Path = name
		} else if root != "" {
			if below, ok := strings.CutPrefix(r.Path, root+"/"); ok {
				r.Path = below
			} else if fs.ValidPath(strings.TrimSuffix(r.Path, "/")) {
				continue // it is not in the root
			}
		}
		all = append(all, r)
	}
	return all
}

// Notices says how names were read where the archive does not tell.
func (f *FS) Notices() (all []string) {
	for _, p := range f.parts {
		if p.notice != "" {
			all = append(all, p.notice)
		}
	}
	return all
}

// find returns the member or the folder at a name of the FS.
func (f *FS) find(op, name string) (*entry, int32, error) {
	if !fs.ValidPath(name) {
		return nil, -1, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if f.closed.Load() || f.index == nil { // nil in an FS that nobody opened
		return nil, -1, &fs.PathError{Op: op, Path: name, Err: fs.ErrClosed}
	}
	inside := join(f.root, name)
	if name == "." {
		inside = f.root
	}
	if e := f.index.find(inside); e != nil {
		if why := f.index.causes[e.refusal]; why != "" {
			return nil, -1, &fs.PathError{Op: op, Path: name, Err: errors.New(why)}
		}
		return e, -1, nil
	}
	if id, ok := f.index.byPath[inside]; ok {
		return nil, id, nil
	}
	return nil, -1, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Stat implements fs.StatFS. The error of a member that is not read is its cause.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	e, id, err := f.find("stat", name)
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return &info{f: f, e: e}, nil
	}
	return f.dirInfo(id), nil
}

// Open implements fs.FS. A member is read when the first of its bytes is.
func (f *FS) Open(name string) (fs.File, error) {
	e, id, err := f.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return &member{info: info{f: f, e: e}}, nil
	}
	return &openDir{info: *f.dirInfo(id), left: f.entriesOf(id)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, id, err := f.find("readdir", name)
	if err == nil && e != nil {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return f.entriesOf(id), nil
}

// entriesOf lists a folder by name.
func (f *FS) entriesOf(id int32) []fs.DirEntry {
	d := &f.index.dirs[id]
	files := make([]info, d.last-d.first)
	all := make([]fs.DirEntry, 0, len(files)+len(d.folders))
	for i := range files {
		files[i] = info{f: f, e: &f.index.entries[int(d.first)+i]}
		all = append(all, &files[i])
	}
	for _, folder := range d.folders {
		all = append(all, f.dirInfo(folder))
	}
	if len(d.folders) > 0 {
		slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return all
}

// ReadFile implements fs.ReadFileFS.
func (f *FS) ReadFile(name string) ([]byte, error) { return f.ReadInto(name, nil) }

// ReadInto reads a member into the memory of buf, or into new memory if that is too small.
func (f *FS) ReadInto(name string, buf []byte) ([]byte, error) {
	e, _, err := f.find("read", name)
	if err == nil && e == nil {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return buf[:0], err
	}
	return f.read(e, buf)
}

// read reads a member. Sizes were compared with what the archive has, or could have, before.
func (f *FS) read(e *entry, buf []byte) ([]byte, error) {
	if f.closed.Load() {
		return buf[:0], fs.ErrClosed
	}
	if int64(cap(buf)) < e.size {
		buf = make([]byte, e.size)
	}
	buf = buf[:e.size]
	if err := f.parts[e.part].read(f.index, e, buf); err != nil {
		return buf[:0], err
	}
	return buf, nil
}

// info describes a member or a folder. It is its fs.FileInfo and fs.DirEntry.
type info struct {
	f    *FS
	e    *entry // nil for a folder
	path string // of a folder
}

func (f *FS) dirInfo(id int32) *info { return &info{f: f, path: f.index.dirs[id].path} }

func (i *info) Name() string {
	if i.e != nil {
		return i.f.index.nameOf(i.e)
	}
	if i.path == i.f.root {
		return "."
	}
	_, name := splitPath(i.path)
	return name
}

func (i *info) Size() int64 {
	if i.e == nil {
		return 0
	}
	return i.e.size
}

func (i *info) Mode() fs.FileMode {
	if i.e == nil {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime is the archive's. A member's own time, of whole seconds, may stay the same although its bytes changed.
func (i *info) ModTime() time.Time {
	p := i.f.parts[0]
	if i.e != nil {
		p = i.f.parts[i.e.part]
	}
	return time.Unix(0, p.was.Identity().ModTime)
}

func (i *info) IsDir() bool                { return i.e == nil }
func (i *info) Sys() any                   { return nil }
func (i *info) Type() fs.FileMode          { return i.Mode().Type() }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }

// member is an open file.
type member struct {
	info
	data *bytes.Reader // nil until the first Read
}

func (m *member) Stat() (fs.FileInfo, error) { return &m.info, nil }

func (m *member) Read(b []byte) (int, error) {
	if m.data == nil {
		data, err := m.f.read(m.e, nil)
		if err != nil {
			return 0, err
		}
		m.data = bytes.NewReader(data)
	}
	if len(b) == 0 {
		return 0, nil
	}
	return m.data.Read(b)
}

func (*member) Close() error { return nil }

// openDir is an open folder.
type openDir struct {
	info
	left []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return &d.info, nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.Name(), Err: fs.ErrInvalid}
}

func (*openDir) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	some := d.left[:n:n]
	d.left = d.left[n:]
	return some, nil
}
