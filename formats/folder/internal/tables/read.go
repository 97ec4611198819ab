package tables

import (
	"fmt"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/ilsvrc"
	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// readSheet reads a file of labels of any kind. Errors name the file.
func readSheet(in vfs.FS, f File) (*sheet.Sheet, error) {
	if s, err := ilsvrc.ReadDevkit(in, f.File, f.Folder); s != nil || err != nil {
		return s, err
	}
	b, err := vfs.ReadText(in, f.File)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	s, err := sheet.Parse(b, strings.ToLower(path.Ext(f.File)))
	if err == nil {
		err = ilsvrc.Recognize(s)
	}
	if err == nil && s.Known == ilsvrc.GroundTruth {
		return ilsvrc.ReadGroundTruth(in, f.File, f.Folder, b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	return s, nil
}
