package formats

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// NotThere is the error about a path at which there is nothing. It names what lies beside it
// under nearly the same name. ErrNotDataset and fs.ErrNotExist are in its chain.
func NotFound(path string) error {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil {
		return notFound(path + ": there is nothing at that path: the folder " + dir + " is not there")
	} else if !st.IsDir() {
		return notFound(path + ": there is nothing at that path: " + dir + " is no folder")
	}
	said := path + ": there is nothing at that path"
	if alike := similarNames(dir, filepath.Base(path)); len(alike) > 0 {
		said += "; did you mean " + strings.Join(alike, " or ") + "?"
	}
	return notFound(said)
}

type notFound string

func (e notFound) Error() string { return string(e) }

func (notFound) Is(target error) bool { return target == ErrNotDataset || target == fs.ErrNotExist }

// endings are those of what dsconv writes, those of one format in a row.
var endings = [][]string{{".lmdb"}, {".h5", ".hdf5"}, {".tar", ".tar.zst"}, {".tfrecord", ".tfrecords"}}

// alike lists what in the folder is called like base but for case and the ending: those of the
// same format if there are any, else all.
func similarNames(dir, base string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var same, others []string
	name, format := stem(base)
	for _, e := range entries {
		other, of := stem(e.Name())
		if !strings.EqualFold(other, name) || of < 0 && !e.IsDir() {
			continue
		}
		if path := filepath.Join(dir, e.Name()); of == format {
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

// stem is a name without one of the endings, and the number of its format, -1 without one.
func stem(name string) (string, int) {
	for i, format := range endings {
		for _, end := range format {
			if cut := len(name) - len(end); cut > 0 && strings.EqualFold(name[cut:], end) {
				return name[:cut], i
			}
		}
	}
	return name, -1
}
