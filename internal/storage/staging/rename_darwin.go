package staging

import "golang.org/x/sys/unix"

// renameExclusive renames a file; an error if the new name exists.
func renameExclusive(from, to string) error { return unix.RenamexNp(from, to, unix.RENAME_EXCL) }
