package folder

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The values of Config.Unlisted.
const (
	// UnlistedSkip skips images that no row of their table lists.
	UnlistedSkip = "skip"
	// UnlistedFolder labels them by their class folder.
	UnlistedFolder = "folder"
)

// labelFile is a file of labels and the folder whose images it lists.
type labelFile struct {
	folder string // relative, with slashes; "" is the root
	file   string
}

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

// holds reports whether the file at a relative path is in the folder of f.
func (f *labelFile) holds(rel string) bool {
	return f.folder == "" || strings.HasPrefix(rel, f.folder+"/")
}

// covering returns the file of labels for the image at rel, that of the deepest folder; nil for none.
func covering(files []labelFile, rel string) *labelFile {
	var found *labelFile
	for i := range files {
		if f := &files[i]; f.holds(rel) && (found == nil || len(f.folder) > len(found.folder)) {
			found = f
		}
	}
	return found
}

// without returns the folders that are splits or classes beside those that the files cover: a table says what
// images in these are, whatever folders they are in.
func (c classFolders) without(files []labelFile) classFolders {
	left := classFolders{}
	for name, images := range c {
		f := covering(files, name+"/")
		if f == nil || f.folder == name && slices.Contains(splitNames, name) {
			left[name] = images
		}
	}
	return left
}

// names lists the files for a message.
func names(files []labelFile) string {
	list := make([]string, len(files))
	for i := range files {
		list[i] = files[i].file
	}
	return strings.Join(list, ", ")
}
