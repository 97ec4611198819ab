package formats

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NotThere is the error about a path at which there is nothing. It names what lies beside it
// under nearly the same name. ErrNotDataset and fs.ErrNotExist are in its chain.
func NotThere(path string) error {
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil {
		return notThere(path + ": there is nothing at that path: the folder " + dir + " is not there")
	} else if !st.IsDir() {
		return notThere(path + ": there is nothing at that path: " + dir + " is no folder")
	}
	said := path + ": there is nothing at that path"
	if alike := alike(dir, filepath.Base(path)); len(alike) > 0 {
		said += "; " + strings.Join(alike, " and ") + " lies there"
	}
	return notThere(said)
}

type notThere string

func (e notThere) Error() string { return string(e) }

func (notThere) Is(target error) bool { return target == ErrNotDataset || target == fs.ErrNotExist }

// endings are those of what dsconv writes, but for what it keeps beside a dataset.
var endings = []string{".lmdb", ".h5", ".hdf5", ".tar", ".tar.zst", ".tfrecord", ".tfrecords"}

// alike lists what in the folder is called like base but for case and the ending; at most three.
func alike(dir, base string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.EqualFold(stem(e.Name()), stem(base)) && len(names) < 3 && (e.IsDir() || stem(e.Name()) != e.Name()) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// stem is a name without one of the endings.
func stem(name string) string {
	name = strings.TrimSuffix(name, "/")
	i := slices.IndexFunc(endings, func(end string) bool {
		return strings.HasSuffix(strings.ToLower(name), end)
	})
	if i < 0 {
		return name
	}
	return name[:len(name)-len(endings[i])]
}
