package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// What could not be read ends a run; what was read and is wrong, or is not there, is one sample's.
func TestUnreadable(t *testing.T) {
	for _, errno := range []syscall.Errno{
		syscall.EIO, syscall.EACCES, syscall.EPERM, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN,
		syscall.ENODEV, syscall.ENXIO, syscall.EMFILE, syscall.ENFILE, syscall.EBADF, syscall.ENETUNREACH,
	} {
		if err := fmt.Errorf("read a.jpg: %w", &fs.PathError{Op: "open", Path: "a.jpg", Err: errno}); !Unreadable(err) {
			t.Errorf("%v: not unreadable", errno)
		}
	}
	for _, err := range []error{fs.ErrPermission, fs.ErrClosed, os.ErrDeadlineExceeded, context.DeadlineExceeded, WrapDamaged(syscall.EIO)} {
		if !Unreadable(fmt.Errorf("read: %w", err)) {
			t.Errorf("%v: not unreadable", err)
		}
	}
	for _, err := range []error{
		nil, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EISDIR, syscall.EINVAL,
		ErrDamaged, ErrSchema, ErrKey, io.ErrUnexpectedEOF, fs.ErrNotExist, context.Canceled, errors.New("it is no image"),
	} {
		if Unreadable(err) {
			t.Errorf("%v: unreadable", err)
		}
	}
}
