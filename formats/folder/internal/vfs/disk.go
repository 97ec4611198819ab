package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// OnDisk returns the folder at a path of the disk.
func OnDisk(root string) FS { return disk(root) }

// RootOnDisk returns the path of a folder of the disk; ok is false for other filesystems.
func RootOnDisk(in FS) (root string, ok bool) {
	if w, ok := in.(*Watched); ok {
		in = w.FS
	}
	d, ok := in.(disk)
	return string(d), ok
}

// disk is the folder at a path.
type disk string

func (d disk) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(d.path(name)) }

func (d disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }

func (d disk) OpenFolder(name string) (Folder, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDONLY|unix.O_DIRECTORY, 0)
	return diskFolder{f}, err
}

// diskFolder asks for its files by their names: the system need not find the folder again for each.
type diskFolder struct{ *os.File }

// MaxOpen is how many folders are listed, or small files read, at once: that waits for the disk or the network,
// not for a core.
const MaxOpen = 16

// MaxEntries is how many entries of a folder are in memory at once.
const MaxEntries = 1024

func (d diskFolder) Next() ([]fs.DirEntry, error) {
	entries, err := d.ReadDir(MaxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

func (d diskFolder) Stat(name string) (size, modTime int64, regular bool, err error) {
	var st unix.Stat_t
	_, err = retry(func() (int, error) { return 0, unix.Fstatat(int(d.Fd()), name, &st, 0) })
	return st.Size, st.Mtim.Nano(), st.Mode&unix.S_IFMT == unix.S_IFREG, err
}

func (d diskFolder) Close() { _ = d.File.Close() } // it was only read

func (d disk) Read(name string, size, modTime int64, buf []byte) ([]byte, error) {
	return readFile(d.path(name), size, modTime, buf)
}

func (d disk) Head(name string, buf []byte) (int, error) {
	f, err := open(d.path(name))
	if err != nil {
		return 0, err
	}
	defer f.close()
	return readHead(f, buf)
}

func (d disk) Join(name string) string { return filepath.Join(string(d), name) }

func (d disk) OpenText(name string) (io.ReadCloser, error) { return unblocked.OpenNamed(name) }

func (d disk) Relative(p string) (string, error) {
	root, err := filepath.Abs(string(d))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(rel), nil
}

func (d disk) Recorded(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

func (d disk) Refused() []formats.Skip { return nil }

func (d disk) Close() error { return nil }

func (d disk) String() string { return string(d) }

func (d disk) Identify(w io.Writer) (all bool, err error) {
	root, err := filepath.Abs(string(d))
	if err != nil {
		return false, err
	}
	st, err := os.Stat(root)
	if err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(w, "%q %v\n", root, inodeOf(st))
	return false, err
}

// inodeOf returns the number of a folder of the disk: another one may have been moved to the same path.
func inodeOf(st fs.FileInfo) any {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return nil
}
