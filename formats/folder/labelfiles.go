package folder

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
)

// The values of Config.Unlisted.
const (
	// UnlistedSkip skips images that no row of their table lists.
	UnlistedSkip = "skip"
	// UnlistedFolder labels them by their class folder.
	UnlistedFolder = "folder"
)

// labelFiles returns the files of labels, those of folders after the one of the root.
func (c *Config) labelFiles() ([]tables.File, error) {
	var list []tables.File
	if c.Labels != "" {
		list = append(list, tables.File{Folder: "", File: c.Labels})
	}
	for _, folder := range slices.Sorted(maps.Keys(c.FolderLabels)) {
		clean := path.Clean(filepath.ToSlash(folder))
		if folder == "" || clean == "." || !filepath.IsLocal(filepath.FromSlash(clean)) {
			return nil, fmt.Errorf("labels for the folder %q: give a folder in the source, such as val", folder)
		}
		if slices.ContainsFunc(list, func(f tables.File) bool { return f.Folder == clean }) {
			return nil, fmt.Errorf("labels for the folder %s: it has two files of labels", clean)
		}
		list = append(list, tables.File{Folder: clean, File: c.FolderLabels[folder]})
	}
	switch c.Unlisted {
	case "", UnlistedSkip:
	case UnlistedFolder:
		if len(list) == 0 {
			return nil, fmt.Errorf("unlisted images: %s needs a table of labels: without one, all images have the labels of their folders", UnlistedFolder)
		}
	default:
		return nil, fmt.Errorf("unlisted images: %q: give %s or %s", c.Unlisted, UnlistedSkip, UnlistedFolder)
	}
	return list, nil
}

// uncovered returns the folders that are splits or classes beside those that the files cover: a table says what
// images in these are, whatever folders they are in.
func uncovered(c layout.Folders, files []tables.File) layout.Folders {
	left := layout.Folders{}
	for name, contents := range c {
		f := tables.Covering(files, name+"/")
		if f == nil || f.Folder == name && slices.Contains(layout.Splits, name) {
			left[name] = contents
		}
	}
	return left
}

// tablesOfFolders returns the files that are not for the whole source.
func (c *Config) tablesOfFolders(files []tables.File) []tables.File {
	if c.Labels != "" {
		return files[1:]
	}
	return files
}
