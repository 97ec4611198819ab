package folder

import (
	"slices"
	"syscall"
)

// readFile reads a file of about size bytes into buf, growing it. The file may have
// changed since it was listed: it is read to its end. It makes the system calls itself:
// os.Open registers every file with the poller, which takes as long as reading a small one.
func readFile(name string, size int64, buf []byte) ([]byte, error) {
	buf = buf[:0]
	fd, err := retry(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return buf, err
	}
	defer syscall.Close(fd)
	// One byte more than expected, so that the end is seen without another read.
	if int64(cap(buf)) <= size {
		buf = make([]byte, 0, size+size/4+512)
	}
	for {
		n, err := retry(func() (int, error) { return syscall.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil || n == 0 {
			return buf, err
		}
		if buf = buf[:len(buf)+n]; len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR { //nolint:errorlint // Errno itself, nothing wraps it
			return n, err
		}
	}
}
