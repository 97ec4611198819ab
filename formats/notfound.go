package formats

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// NotFound returns the error for a path that does not exist. It names files in the same folder
// with nearly the same name. errors.Is finds ErrNotDataset and fs.ErrNotExist in it.
func NotFound(path string) error {
	if path == "" {
		return errNoPath
	}
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil {
		return notFound(path + ": there is nothing at that path: the folder " + dir + " does not exist")
	} else if !st.IsDir() {
		return notFound(path + ": there is nothing at that path: " + dir + " is not a folder")
	}
	text := path + ": there is nothing at that path"
	if similar := similarNames(dir, filepath.Base(path)); len(similar) > 0 {
		text += "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return notFound(text)
}

// errNoPath is the error about an empty path.
const errNoPath = notFound("the path is empty: give the path of a dataset")

type notFound string

func (e notFound) Error() string { return string(e) }

func (notFound) Is(target error) bool { return target == ErrNotDataset || target == fs.ErrNotExist }

// extensions are those of the files dsconv writes, one list per format.
var extensions = [][]string{{".lmdb"}, {".h5", ".hdf5"}, {".tar", ".tar.zst"}, {".tfrecord", ".tfrecords"}}

// similarNames lists the paths in the folder whose names differ from base only in case and
// extension: those of the same format if there are any, else all.
func similarNames(dir, base string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var same, others []string
	name, format := stem(base)
	for _, e := range entries {
		otherName, otherFormat := stem(e.Name())
		if !strings.EqualFold(otherName, name) || otherFormat < 0 && !e.IsDir() {
			continue
		}
		if path := filepath.Join(dir, e.Name()); otherFormat == format {
			same = append(same, path)
		} else {
			others = append(others, path)
		}
	}
	if len(same) > 0 {
		return same
	}
	return others
}

// stem returns name without its extension and the extension's index in extensions, -1 if it has none.
func stem(name string) (string, int) {
	for i, format := range extensions {
		for _, end := range format {
			if cut := len(name) - len(end); cut > 0 && strings.EqualFold(name[cut:], end) {
				return name[:cut], i
			}
		}
	}
	return name, -1
}
