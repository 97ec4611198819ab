package tables

import (
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Missing lists the files that the scan of the folder cannot have found. That of a list looks at files of all names.
func (t *Table) Missing(in vfs.FS, isList bool) []formats.Skip {
	var skips []formats.Skip
	for i, p := range t.Paths {
		if why := t.whyNotFound(i, in, isList); why != "" {
			skips = append(skips, formats.Skip{
				Path: p, Cause: "it is listed in " + t.fileOf(i).File + " but " + why, Missing: strings.HasPrefix(why, "does not exist"),
			})
		}
	}
	return skips
}

// whyNotFound returns why the scan of the folder cannot have found the file of row i, "" if it has.
func (t *Table) whyNotFound(i int, in vfs.FS, isList bool) string {
	p := t.Paths[i]
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "is outside the folder"
	}
	if t.Exists == nil || !t.Exists[i] {
		if fits := t.fits[p]; len(fits) > 0 {
			return "may be any of " + sheet.ListNames(fits) + ": write the extension"
		}
		switch st, err := in.Lstat(p); {
		case err != nil && strings.Contains(p, "\\"):
			return "does not exist: write paths with /"
		case err != nil:
			return "does not exist"
		case st.IsDir():
			return "is a folder"
		}
	}
	if !isList && !vfs.HasImageName(p) && !vfs.IsUnknown(p) {
		return "has no extension of an image: if it is one, pack the list of the images itself, which may name any file"
	}
	return ""
}
