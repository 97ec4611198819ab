package archive

import (
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

// String returns the path of the archive, and that of the root in it.
func (f *FS) String() string { return path.Join(f.path, f.root) }

// Identify writes what tells the archive, and the root in it, from others. It reads no member.
func (f *FS) Identify(w io.Writer) error {
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

// find returns the member at a name of the FS, nil for a folder, and its path in the archive.
func (f *FS) find(op, name string) (e *entry, path string, err error) {
	path = join(f.root, name)
	if name == "." {
		path = f.root
	}
	switch {
	case !fs.ValidPath(name):
		err = fs.ErrInvalid
	case f.closed.Load() || f.index == nil: // nil in an FS that nobody opened
		err = fs.ErrClosed
	default:
		e = f.index.find(path)
		if e == nil && !f.index.known[path] {
			err = fs.ErrNotExist
		} else if e != nil && e.refusal != "" {
			err = errors.New(e.refusal)
		}
	}
	if err != nil {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, path, nil
}

// Stat returns what a member or a folder is. The error of a member that is not read is its cause.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	e, path, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return &info{f: f, e: e, path: path}, nil
}

// ReadDir lists a folder by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, path, err := f.find("readdir", name)
	if err == nil && e != nil {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	members, folders := f.index.in(path)
	all := make([]fs.DirEntry, 0, len(members)+len(folders))
	for _, e := range members {
		all = append(all, &info{f: f, e: e, path: e.path})
	}
	for _, folder := range folders {
		all = append(all, &info{f: f, path: *folder})
	}
	if len(folders) > 0 {
		slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return all, nil
}

// ReadInto reads a member into the memory of buf, or into new memory if that is too small. Sizes were compared with what
// the archive has, or could have, before.
func (f *FS) ReadInto(name string, buf []byte) ([]byte, error) {
	e, _, err := f.find("read", name)
	if err == nil && e == nil {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return buf[:0], err
	}
	if int64(cap(buf)) < e.size {
		buf = make([]byte, e.size)
	}
	buf = buf[:e.size]
	if err := f.parts[e.part].read(e, buf); err != nil {
		return buf[:0], err
	}
	return buf, nil
}

// info describes a member or a folder. It is its fs.FileInfo and fs.DirEntry.
type info struct {
	f    *FS
	e    *entry // nil for a folder
	path string
}

func (i *info) Name() string {
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
