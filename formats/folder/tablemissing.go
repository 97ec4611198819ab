package folder

import (
	"path/filepath"
	"strings"
)

// missing lists the files that the scan of the folder cannot have found.
func (t *table) missing(in filesystem) []skip {
	var skips []skip
	for i, p := range t.paths {
		if why := t.whyNotFound(i, in); why != "" {
			skips = append(skips, skip{p, "it is listed in " + t.fileOf(i).file + " but " + why})
		}
	}
	return skips
}

// whyNotFound returns why the scan of the folder cannot have found the file of row i, "" if it has.
func (t *table) whyNotFound(i int, in filesystem) string {
	p := t.paths[i]
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "is outside the folder"
	}
	if t.exists == nil || !t.exists[i] {
		if fits := t.fits[p]; len(fits) > 0 {
			return "may be any of " + listNames(fits) + ": write the extension"
		}
		switch st, err := in.lstat(p); {
		case err != nil && strings.Contains(p, "\\"):
			return "does not exist: write paths with /"
		case err != nil:
			return "does not exist"
		case st.IsDir() && hasImageName(p):
			return "is a folder"
		}
	}
	if !hasImageName(p) {
		return "has no extension of an image"
	}
	return ""
}
