//go:build !linux && !darwin

package atrest

import "golang.org/x/sys/unix"

// renameExclusive is not there.
func renameExclusive(string, string) error { return unix.ENOSYS }
