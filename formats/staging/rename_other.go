//go:build !linux && !darwin

package staging

import "golang.org/x/sys/unix"

// renameExclusive is not there.
func renameExclusive(string, string) error { return unix.ENOSYS }
