package staging

import "golang.org/x/sys/unix"

// renameatExclusive renames a file of one open folder into another; an error if the new name exists.
func renameatExclusive(dir int, from string, toDir int, to string) error {
	return unix.RenameatxNp(dir, from, toDir, to, unix.RENAME_EXCL)
}
