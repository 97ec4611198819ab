//go:build !linux && !darwin

package staging

import "golang.org/x/sys/unix"

// renameatExclusive is not available on this system.
func renameatExclusive(int, string, int, string) error { return unix.ENOSYS }
