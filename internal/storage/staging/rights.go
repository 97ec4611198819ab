package staging

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// keepRights gives the files and folders that are published the mode and, where the system allows it, the owner and group
// of those of the same names that they replace; those of new names get what another of the same kind has.
func keepRights(old []string, moves []step) error {
	var file, folder fs.FileInfo
	for _, path := range old {
		st, err := os.Lstat(path)
		if err == nil && st.IsDir() && folder == nil {
			folder = st
			path = filepath.Join(path, checksum.ChecksumsName)
			st, err = os.Lstat(path)
		}
		if err == nil && st.Mode().IsRegular() && file == nil {
			file = st
		}
		if file != nil && folder != nil {
			break
		}
	}
	for _, m := range moves {
		err := filepath.WalkDir(m.From, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			was, err := os.Lstat(m.To + path[len(m.From):])
			if err != nil || was.Mode().Type() != d.Type() {
				if was = file; d.IsDir() {
					was = folder
				}
			}
			if was == nil {
				return nil
			}
			return durable.KeepRights(path, was)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
