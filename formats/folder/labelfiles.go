package folder

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
)

// The values of Config.Unlisted.
const (
	// UnlistedSkip skips images that no row of their table lists.
	UnlistedSkip = "skip"
	// UnlistedFolder labels them by their class folder.
	UnlistedFolder = "folder"
)

// labelFiles returns the files of labels, those of folders after the one of the root.
func (c *Config) labelFiles() ([]labelFile, error) {
	var list []labelFile
	if c.Labels != "" {
		list = append(list, labelFile{"", c.Labels})
	}
	for _, folder := range slices.Sorted(maps.Keys(c.FolderLabels)) {
		clean := path.Clean(filepath.ToSlash(folder))
		if folder == "" || clean == "." || !filepath.IsLocal(filepath.FromSlash(clean)) {
			return nil, fmt.Errorf("labels for the folder %q: give a folder in the source, such as val", folder)
		}
		if slices.ContainsFunc(list, func(f labelFile) bool { return f.folder == clean }) {
			return nil, fmt.Errorf("labels for the folder %s: it has two files of labels", clean)
		}
		list = append(list, labelFile{clean, c.FolderLabels[folder]})
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
func uncovered(c classFolders, files []labelFile) classFolders {
	left := classFolders{}
	for name, images := range c {
		f := covering(files, name+"/")
		if f == nil || f.folder == name && slices.Contains(splitNames, name) {
			left[name] = images
		}
	}
	return left
}

// tablesOfFolders returns the files that are not for the whole source.
func (c *Config) tablesOfFolders(files []labelFile) []labelFile {
	if c.Labels != "" {
		return files[1:]
	}
	return files
}
