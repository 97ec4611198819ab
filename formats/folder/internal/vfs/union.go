package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// union is several filesystems as one.
type union struct {
	mounts []Mount
	filter *formats.FileFilter
}

// Join returns several filesystems as one. Two images of one path that filter includes are an error where they are
// listed.
func Join(mounts []Mount, filter *formats.FileFilter) FS { return &union{mounts, filter} }

// Mount is a filesystem whose root is the folder at name, "" for the union's.
type Mount struct {
	Name string
	In   FS
}

// below returns the name in the mount of what the union has at name.
func (m *Mount) below(name string) (string, bool) {
	if m.Name == "" || name == m.Name {
		return strings.TrimPrefix(name, m.Name), true
	}
	return strings.CutPrefix(name, m.Name+"/")
}

// first calls f for each mount that may have name, until the result is not that it is missing.
func first[T any](u *union, name string, f func(in FS, name string) (T, error)) (found T, err error) {
	err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for _, m := range u.mounts {
		below, ok := m.below(name)
		if !ok {
			continue
		}
		if found, err = f(m.In, below); err == nil || !durable.IsMissing(err) {
			return found, err
		}
	}
	return found, err
}

func (u *union) Stat(name string) (fs.FileInfo, error) {
	if name == "" {
		return rootInfo{}, nil
	}
	return first(u, name, FS.Stat)
}

func (u *union) Lstat(name string) (fs.FileInfo, error) {
	if name == "" {
		return rootInfo{}, nil
	}
	return first(u, name, FS.Lstat)
}

func (u *union) Read(name string, size, modTime int64, buf []byte) ([]byte, error) {
	return first(u, name, func(in FS, name string) ([]byte, error) { return in.Read(name, size, modTime, buf) })
}

func (u *union) Head(name string, buf []byte) (int, error) {
	return first(u, name, func(in FS, name string) (int, error) { return in.Head(name, buf) })
}

// OpenFolder opens the folder in all mounts that have it.
func (u *union) OpenFolder(name string) (Folder, error) {
	f := &unionFolder{union: u, name: name}
	for _, m := range u.mounts {
		if name == "" && m.Name != "" {
			f.named = append(f.named, rootInfo{m.Name})
			continue
		}
		below, ok := m.below(name)
		if !ok {
			continue
		}
		if st, err := m.In.Stat(below); durable.IsMissing(err) || err == nil && !st.IsDir() {
			continue
		}
		one, err := m.In.OpenFolder(below)
		if err != nil {
			f.Close()
			return nil, err
		}
		f.parts, f.from = append(f.parts, one), append(f.from, &m)
	}
	return f, nil
}

// unionFolder lists the folders of several mounts, one after another.
type unionFolder struct {
	*union
	name  string
	named []fs.DirEntry // folders of the root that are mounts
	parts []Folder
	from  []*Mount
	at    int            // the part that is listed
	seen  map[string]int // entries, by the part that has them; nil if there is one part
}

func (f *unionFolder) Next() ([]fs.DirEntry, error) {
	if len(f.parts)+len(f.named) > 1 && f.seen == nil {
		f.seen = map[string]int{}
	}
	if named := f.named; len(named) > 0 {
		f.named = nil
		return f.fresh(named, -1)
	}
	for ; f.at < len(f.parts); f.at++ {
		for {
			entries, err := f.parts[f.at].Next()
			if err != nil {
				return nil, err
			}
			if len(entries) == 0 {
				break
			}
			if entries, err = f.fresh(entries, f.at); err != nil || len(entries) > 0 {
				return entries, err
			}
		}
	}
	return nil, nil
}

// fresh returns the entries of a part that no earlier part has. Two images of one name are an error.
func (f *unionFolder) fresh(entries []fs.DirEntry, part int) ([]fs.DirEntry, error) {
	if f.seen == nil {
		return entries, nil
	}
	var fresh []fs.DirEntry
	for _, e := range entries {
		before, twice := f.seen[e.Name()]
		if !twice {
			f.seen[e.Name()] = part
			fresh = append(fresh, e)
			continue
		}
		if err := f.conflict(e, before, part); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// ConflictError is an error about sources that cannot be one folder.
type ConflictError struct{ error }

// conflict returns an error if an entry that two parts have is an image that is wanted, or a folder in one of them and
// not in the other.
func (f *unionFolder) conflict(e fs.DirEntry, before, part int) error {
	if before < 0 && part < 0 {
		return nil // two sources mounted at one folder
	}
	if before < 0 || part < 0 { // a source without a name has what another one is named
		return ConflictError{fmt.Errorf("%s has %s, which is also the name that another source is mounted at: choose another name", f.from[max(before, part)].In, e.Name())}
	}
	name := path.Join(f.name, e.Name())
	a, b := f.from[before], f.from[part]
	one, err := a.In.Stat(strings.TrimPrefix(name, a.Name+"/"))
	if err != nil {
		return nil //nolint:nilerr // listing it finds out
	}
	wanted := f.filter.IncludesFile(name) && (IsImageExtension(path.Ext(name)) || IsUnknown(name) && isImage(f.union, name))
	if one.IsDir() && e.IsDir() || !wanted && !one.IsDir() && !e.IsDir() {
		return nil
	}
	return ConflictError{fmt.Errorf("%s and %s both have %s: leave one out with --exclude, or mount them at folders of their own, NAME=PATH", a.In, b.In, name)}
}

func (f *unionFolder) Stat(name string) (size, modTime int64, regular bool, err error) {
	return f.parts[max(0, f.seen[name])].Stat(name)
}

func (f *unionFolder) Close() {
	for _, one := range f.parts {
		one.Close()
	}
}

func (u *union) Join(name string) string { return name }

// OpenText opens a file of the disk, or else of a mount.
func (u *union) OpenText(name string) (io.ReadCloser, error) {
	if isFile(name) {
		return unblocked.Open(name)
	}
	for i := range u.mounts {
		if t, ok := u.mounts[i].In.(tree); ok && t.inside(name) != name {
			return t.OpenText(name)
		}
	}
	f, err := first(u, path.Clean(name), func(in FS, name string) (io.ReadCloser, error) {
		if d, ok := in.(disk); ok {
			return unblocked.Open(d.path(name))
		}
		return in.OpenText(name)
	})
	if err != nil {
		return nil, notFound(name, u, err)
	}
	return f, nil
}

// Relative returns an absolute path relative to the mount that it lies in.
func (u *union) Relative(p string) (string, error) {
	for _, m := range u.mounts {
		rel, err := m.In.Relative(p)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return path.Join(m.Name, rel), nil
		}
	}
	return "", fmt.Errorf("%q is in none of the sources", p)
}

func (u *union) Identify(w io.Writer) (all bool, err error) {
	all = true
	for _, m := range u.mounts {
		if _, err := fmt.Fprintf(w, "%q ", m.Name); err != nil {
			return false, err
		}
		told, err := m.In.Identify(w)
		if err != nil {
			return false, err
		}
		if _, onDisk := m.In.(disk); !told && !onDisk {
			all = false
		}
	}
	return all, nil
}

// Recorded returns the path of a file of the disk, or in the mount that has it.
func (u *union) Recorded(p string) string {
	if !isFile(p) {
		m, below := u.having(path.Clean(p))
		if m == nil {
			return p
		}
		p = path.Join(m.In.String(), below)
	}
	return disk("").Recorded(p)
}

// having returns the mount that has name, and its name there; nil if none has.
func (u *union) having(name string) (*Mount, string) {
	for i := range u.mounts {
		if below, ok := u.mounts[i].below(name); ok {
			if _, err := u.mounts[i].In.Stat(below); err == nil {
				return &u.mounts[i], below
			}
		}
	}
	return nil, ""
}

func (u *union) Refused() []formats.Skip {
	var all []formats.Skip
	for _, m := range u.mounts {
		for _, k := range m.In.Refused() {
			if m.Name != "" {
				k.Path = m.Name + "/" + k.Path
			}
			all = append(all, k)
		}
	}
	return all
}

func (u *union) Close() error {
	var err error
	for i := range u.mounts {
		err = errors.Join(err, u.mounts[i].In.Close())
	}
	return err
}

func (u *union) String() string {
	var names []string
	for i := range u.mounts {
		if name := u.mounts[i].In.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// rootInfo describes a folder that is only in a union: its root, or one that a source is mounted at.
type rootInfo struct{ name string }

func (r rootInfo) Name() string               { return r.name }
func (rootInfo) Size() int64                  { return 0 }
func (rootInfo) Mode() fs.FileMode            { return fs.ModeDir | 0o555 }
func (rootInfo) Type() fs.FileMode            { return fs.ModeDir }
func (rootInfo) ModTime() time.Time           { return time.Time{} }
func (rootInfo) IsDir() bool                  { return true }
func (rootInfo) Sys() any                     { return nil }
func (r rootInfo) Info() (fs.FileInfo, error) { return r, nil }
