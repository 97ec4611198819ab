package pagecache

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// window is how much of a file is mapped at a time.
const window = 1 << 30

// drop writes what is not written yet, and drops the file's pages.
func drop(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = unix.Fdatasync(int(f.Fd())) // a file system without it has nothing to write, or resident finds the pages
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// residentPages counts the file's pages in memory, and all.
func residentPages(file string) (in, all int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	if !told(file, st) {
		return 0, 0, ErrUnknown
	}
	for at := int64(0); at < st.Size(); at += window {
		n, pages, err := residentIn(int(f.Fd()), at, min(window, st.Size()-at))
		if err != nil {
			return 0, 0, err
		}
		in += n
		all += pages
	}
	return in, all, nil
}

// residentIn counts the pages of a part of a file. Nothing is read: mapping it and mincore touch no page.
func residentIn(fd int, at, size int64) (in, pages int64, err error) {
	b, err := unix.Mmap(fd, at, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = unix.Munmap(b) }()
	page := int64(os.Getpagesize())
	state := make([]byte, (size+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(size), uintptr(unsafe.Pointer(&state[0])))
	if errno != 0 {
		return 0, 0, errno
	}
	for _, s := range state {
		in += int64(s & 1)
	}
	return in, int64(len(state)), nil
}

// told reports whether Linux tells this process what of the file is in memory. Of others' files it claims that all is.
func told(file string, st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() || unix.Faccessat(unix.AT_FDCWD, file, unix.W_OK, unix.AT_EACCESS) == nil
}
