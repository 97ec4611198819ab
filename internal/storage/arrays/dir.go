package arrays

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// MaxUnpacked is how many bytes of a dataset's files may be in memory, because they are compressed or in an archive.
const MaxUnpacked = 1 << 30

// maxEntries is more than a folder has whose files are arrays; a folder of images may have a million.
const maxEntries = 1024

// Dir is a folder that may have files of arrays: on the disk, or in an archive.
type Dir struct {
	path  string // of the folder on the disk, or of the archive
	files fs.FS  // nil on the disk
	below string // the folder in files
}

// OnDisk is the folder at path.
func OnDisk(path string) Dir { return Dir{path: path} }

// InFS is the root of files, which lie in the archive at path.
func InFS(path string, files fs.FS) Dir { return Dir{path, files, "."} }

// Sub returns the folder with that name below d; "" is d.
func (d Dir) Sub(name string) Dir {
	if d.files == nil {
		return Dir{path: filepath.Join(d.path, name)}
	}
	return Dir{d.path, d.files, path.Join(d.below, name)}
}

// Path returns the path of a file in d, for errors.
func (d Dir) Path(name string) string {
	return filepath.Join(d.path, filepath.FromSlash(d.below), name)
}

// IsFile reports whether d has a regular file of that name.
func (d Dir) IsFile(name string) bool {
	st, err := d.stat(name)
	return err == nil && st.Mode().IsRegular()
}

func (d Dir) stat(name string) (fs.FileInfo, error) {
	if d.files == nil {
		return os.Stat(d.Path(name))
	}
	return fs.Stat(d.files, path.Join(d.below, name))
}

// Open opens the regular file of that name.
func (d Dir) Open(name string) (fs.File, error) {
	switch st, err := d.stat(name); {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: it is not a regular file", d.Path(name), formats.ErrDamaged)
	case d.files == nil:
		return unblocked.Open(d.Path(name))
	}
	return d.files.Open(path.Join(d.below, name))
}

// Names lists what is in d; nothing if that is more than a folder of arrays has.
func (d Dir) Names() []string {
	var f fs.File
	var err error
	if d.files == nil {
		f, err = unblocked.Open(d.path)
	} else {
		f, err = d.files.Open(d.below)
	}
	if err != nil {
		return nil
	}
	defer f.Close()
	folder, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, err := folder.ReadDir(maxEntries + 1)
	if err != nil || len(entries) > maxEntries {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Load opens the file of that name: mapped on the disk, in memory from an archive. left is what may still be in memory; what
// the file takes is subtracted.
func (d Dir) Load(name string, left *int64) (*File, error) {
	if d.files == nil {
		return Map(d.Path(name))
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > *left {
		return nil, fmt.Errorf("%s: %w: it has %d bytes: files of a dataset that are read into memory may have %d: unpack the archive", d.Path(name), formats.ErrSchema, st.Size(), MaxUnpacked)
	}
	*left -= st.Size()
	data := make([]byte, st.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path(name), err)
	}
	if n, err := f.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w: it does not end after its %d bytes: %w", d.Path(name), formats.ErrDamaged, len(data), err)
	}
	return d.Unpacked(name, data)
}

// Unpacked is the file of that name whose content, decompressed, is data.
func (d Dir) Unpacked(name string, data []byte) (*File, error) {
	if d.files == nil {
		return Unpacked(d.Path(name), data)
	}
	return &File{Path: d.Path(name), Data: data, checksum: xxh3.Hash(data)}, nil
}
