package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// Read makes the system calls itself: os.Open registers every file with the poller, which takes as long as reading a small
// one. It does not block on a pipe that replaced the file.
func (d disk) Read(name string, size, modTime int64, buf []byte) ([]byte, error) {
	f, err := open(d.path(name))
	if err != nil {
		return buf[:0], err
	}
	defer f.close()
	if buf, err = readAll(f, size, buf[:0]); err == nil {
		err = checkUnchanged(int(f), size, modTime, int64(len(buf)))
	}
	return buf, err
}

func (d disk) Head(name string, buf []byte) (int, error) {
	f, err := open(d.path(name))
	if err != nil {
		return 0, err
	}
	defer f.close()
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

func (d disk) Join(name string) string { return filepath.Join(string(d), name) }

func (d disk) OpenText(name string) (io.ReadCloser, error) { return unblocked.OpenNamed(name) }

func (d disk) Relative(p string) (string, error) {
	root, err := filepath.Abs(string(d))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, p)
	return filepath.ToSlash(rel), err
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
	_, err = fmt.Fprintf(w, "%q %d\n", root, PlaceOf(st).inode) // another folder may have been moved to the same path
	return false, err
}

// ErrChanged is the error about a file that is not the one that was listed.
var ErrChanged = errors.New("it changed since it was listed")

// maxSlack is the most memory beyond a file's size that a buffer gets, for larger files that come after.
const maxSlack = 1 << 20

// descriptor is an open file.
type descriptor int

func open(name string) (descriptor, error) {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) })
	return descriptor(fd), err
}

func (f descriptor) Read(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(int(f), b) })
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

func (f descriptor) close() { _ = unix.Close(int(f)) } // it was only read

// checkUnchanged compares the number of bytes read, and the file's size and time after that, with
// the listing.
func checkUnchanged(fd int, size, modTime, got int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Size != size || st.Mtim.Nano() != modTime {
		return ErrChanged
	}
	if got != size {
		return fmt.Errorf("the disk gave %d of its %d bytes: %w", got, size, unix.EIO)
	}
	return nil
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR { //nolint:errorlint // Errno itself, nothing wraps it
			return n, err
		}
	}
}

// readAll appends all bytes of r, about size of them, to buf.
func readAll(r io.Reader, size int64, buf []byte) ([]byte, error) {
	if int64(cap(buf)) <= size {
		buf = make([]byte, 0, size+min(size/4, maxSlack)+512)
	}
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil || int64(len(buf)) > size { // one byte more than listed is enough to know
			return buf, err
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// ModTime returns a file's time in ns, 0 if it has none.
func ModTime(st fs.FileInfo) int64 {
	if t := st.ModTime(); !t.IsZero() {
		return t.UnixNano()
	}
	return 0
}
