package staging

import "golang.org/x/sys/unix"

// renameExclusive is a rename that replaces nothing.
func renameExclusive(from, to string) error { return unix.RenamexNp(from, to, unix.RENAME_EXCL) }
