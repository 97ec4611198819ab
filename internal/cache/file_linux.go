package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/durable"
)

// The rules for creating and removing the file:
//
//   - It gets its name when it is complete and its creator has a shared lock on it.
//   - Every user takes a shared lock before it checks the name.
//   - Only the holder of the exclusive lock removes the name. So a file whose name was checked under
//     a lock keeps its name as long as the lock is held.

const (
	tries = 2000
	pause = 2 * time.Millisecond
)

// errAgain means that another process removed or created the file meanwhile.
var errAgain = errors.New("other processes create and remove it again and again")

// attach opens or creates the cache's file, with a shared lock on it.
func attach(c Config) (f *os.File, err error) {
	for range tries {
		f, err = open(c.path())
		if errors.Is(err, os.ErrNotExist) {
			f, err = create(c)
		}
		if !errors.Is(err, errAgain) {
			return f, err
		}
		time.Sleep(pause)
	}
	return nil, err
}

// open opens a file that is in use. It removes a file that nobody uses, and returns errAgain.
func open(path string) (*os.File, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, err
	}
	if flock(f, unix.LOCK_EX) != nil && flock(f, unix.LOCK_SH) == nil && isAt(f, path) {
		return f, nil
	}
	if !isCache(f) {
		return nil, errors.Join(fmt.Errorf("%s is not a cache of dsconv: move it away", path), f.Close())
	}
	if err := release(f, path); err != nil {
		return nil, fmt.Errorf("remove the unused cache: %w", err)
	}
	return nil, errAgain
}

// openOwn opens a regular file of this user.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil {
		err = durable.CheckOwn(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// isCache reports whether f starts as a cache of any version, or is empty. Other files with such a
// name must not be removed.
func isCache(f *os.File) bool {
	var begin [8]byte
	n, err := f.ReadAt(begin[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return n == 0 || begin == [8]byte{} || bytes.HasPrefix(begin[:], []byte("dscache"))
}

// create creates a file and gives it its name; errAgain if another process was first.
func create(c Config) (*os.File, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(c.Dir, filepath.Base(c.path())+".*.new")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // its temporary name
	if flock(f, unix.LOCK_SH) != nil {
		err = errAgain // another process took it for an unused one
	} else if err = format(f, c.Samples, limit); err == nil {
		err = os.Link(f.Name(), c.path())
		if errors.Is(err, os.ErrExist) || errors.Is(err, os.ErrNotExist) {
			err = errAgain
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// format makes f an empty cache. Bytes that were not written are zero.
func format(f *os.File, samples int, limit int64) error {
	if err := f.Truncate(fileSize(uint64(samples), uint64(limit))); err != nil {
		return err
	}
	index := IndexSize(samples)
	if err := allocate(f, 0, index); err != nil {
		return fmt.Errorf("allocate an index of %d bytes: %w", index, err)
	}
	h := header{magic: magic, samples: uint64(samples), limit: uint64(limit)}
	h.cursor.Store(uint64(index))
	h.backed.Store(uint64(index))
	_, err := f.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), 0)
	return err
}

// release closes f, and removes it if nobody else has a lock on it.
func release(f *os.File, path string) error {
	var err error
	if flock(f, unix.LOCK_EX) == nil && isAt(f, path) {
		err = os.Remove(path)
	}
	return errors.Join(err, f.Close())
}

// removeStale removes the files of this user's other caches that nobody uses. What cannot be
// removed is left.
func removeStale(c Config) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(c.Dir, e.Name())
		if !strings.HasPrefix(e.Name(), prefix()) || path == c.path() {
			continue
		}
		f, err := openOwn(path)
		if err != nil {
			continue
		}
		if isCache(f) {
			_ = release(f, path)
		} else {
			_ = f.Close()
		}
	}
}

// flock replaces the lock that is held by another one, without waiting.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// isAt reports whether path names f now.
func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// forget unmaps the pages of b from the process, which would count them twice; the file
// keeps them.
func forget(b []byte) {
	page := uintptr(os.Getpagesize())
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := -from & (page - 1)
	if n := uintptr(len(b)); n > skip {
		if whole := (n - skip) &^ (page - 1); whole > 0 {
			_ = unix.Madvise(b[skip:skip+whole], unix.MADV_DONTNEED)
		}
	}
}
