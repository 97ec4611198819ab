package sharded

import (
	"io/fs"
	"path/filepath"
)

// SizeOfFiles returns the number of bytes in the file at path, or in the files below it.
func SizeOfFiles(path string) (total int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
