package folder

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// errChanged is the error about a file that is not the one that was listed.
var errChanged = errors.New("it changed since it was listed")

// readFile reads a file that was listed with that size and time into buf, growing it. It
// makes the system calls itself: os.Open registers every file with the poller, which takes
// as long as reading a small one. It does not block on a pipe that replaced the file.
func readFile(name string, size, modTime int64, buf []byte) ([]byte, error) {
	buf = buf[:0]
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) })
	if err != nil {
		return buf, err
	}
	defer unix.Close(fd)
	// One byte more than expected, so that no extra read is needed to find the end.
	if int64(cap(buf)) <= size {
		buf = make([]byte, 0, size+size/4+512)
	}
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return buf, err
		}
		if n == 0 {
			return buf, checkUnchanged(fd, size, modTime, int64(len(buf)))
		}
		if buf = buf[:len(buf)+n]; len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// checkUnchanged compares the number of bytes read, and the file's size and time after that, with
// the listing.
func checkUnchanged(fd int, size, modTime, got int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Size != size || got != size || st.Mtim.Nano() != modTime {
		return errChanged
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
