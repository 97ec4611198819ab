package folder

import "strings"

// labelFile is a file of labels and the folder whose images it lists.
type labelFile struct {
	folder string // relative, with slashes; "" is the root
	file   string
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

// names lists the files for a message.
func names(files []labelFile) string {
	list := make([]string, len(files))
	for i := range files {
		list[i] = files[i].file
	}
	return strings.Join(list, ", ")
}
