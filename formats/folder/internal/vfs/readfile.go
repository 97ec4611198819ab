package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// ErrChanged is the error about a file that is not the one that was listed.
var ErrChanged = errors.New("it changed since it was listed")

// maxSlack is the most memory beyond a file's size that a buffer gets, for larger files that come after.
const maxSlack = 1 << 20

// readFile reads a file that was listed with that size and time into buf, growing it. It
// makes the system calls itself: os.Open registers every file with the poller, which takes
// as long as reading a small one. It does not block on a pipe that replaced the file.
func readFile(name string, size, modTime int64, buf []byte) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return buf[:0], err
	}
	defer f.close()
	if buf, err = readAll(f, size, buf[:0]); err == nil {
		err = checkUnchanged(int(f), size, modTime, int64(len(buf)))
	}
	return buf, err
}

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

// readHead reads the first bytes into buf, and returns how many there are.
func readHead(r io.Reader, buf []byte) (int, error) {
	n, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

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

// unchanged is checkUnchanged for a file of an fs.FS.
func unchanged(f fs.File, size, modTime, got int64) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != size || got != size || ModTime(st) != modTime {
		return ErrChanged
	}
	return nil
}

// ModTime returns a file's time in ns, 0 if it has none.
func ModTime(st fs.FileInfo) int64 {
	if t := st.ModTime(); !t.IsZero() {
		return t.UnixNano()
	}
	return 0
}
