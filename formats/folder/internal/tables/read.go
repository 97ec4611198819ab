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
	s, err := ReadSheet(in, f.File)
	if err != nil {
		return nil, err
	}
	if err := ilsvrc.Recognize(s); err != nil {
		return nil, fmt.Errorf("%s: %w", f.File, err)
	}
	if s.Known != ilsvrc.GroundTruth {
		return s, nil
	}
	b, err := vfs.ReadText(in, f.File)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	return ilsvrc.ReadGroundTruth(in, f.File, f.Folder, b)
}

// ReadSheet reads a table. Errors name the file.
func ReadSheet(in vfs.FS, file string) (*sheet.Sheet, error) {
	ext := strings.ToLower(path.Ext(file))
	read := vfs.ReadText
	if ext == ".parquet" {
		read = vfs.ReadBytes
	}
	b, err := read(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	if ext == ".parquet" {
		return sheet.ParseParquet(file, b)
	}
	s, err := sheet.Parse(b, ext)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
