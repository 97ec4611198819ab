//go:build !linux && !darwin

package staging

import "golang.org/x/sys/unix"

// renameExclusive is not available on this system.
func renameExclusive(string, string) error { return unix.ENOSYS }
