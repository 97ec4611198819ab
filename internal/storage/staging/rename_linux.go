package staging

import "golang.org/x/sys/unix"

// renameExclusive renames a file; an error if the new name exists.
func renameExclusive(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
