package tables

import (
	"strings"
)

// File is a file of labels and the folder whose images it lists.
type File struct {
	Folder string // relative, with slashes; "" is the root
	File   string
}

// holds reports whether the file at a relative path is in the folder of f.
func (f *File) holds(rel string) bool {
	return f.Folder == "" || strings.HasPrefix(rel, f.Folder+"/")
}

// Covering returns the file of labels for the image at rel, that of the deepest folder; nil for none.
func Covering(files []File, rel string) *File {
	var found *File
	for i := range files {
		if f := &files[i]; f.holds(rel) && (found == nil || len(f.Folder) > len(found.Folder)) {
			found = f
		}
	}
	return found
}

// Names lists the files for a message.
func Names(files []File) string {
	list := make([]string, len(files))
	for i := range files {
		list[i] = files[i].File
	}
	return strings.Join(list, ", ")
}
