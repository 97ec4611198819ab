package tfrecord

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// version is a folder's name that TensorFlow Datasets gives to a prepared dataset: it is in NAME or NAME/CONFIG.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// errSeveral is about a folder with several datasets of TensorFlow Datasets.
type errSeveral struct {
	path    string
	folders []string
}

func (e *errSeveral) Error() string {
	const most = 8
	list := strings.Join(e.folders[:min(most, len(e.folders))], ", ")
	if len(e.folders) > most {
		list += ", ..."
	}
	return fmt.Sprintf("%s: %v: it has several datasets of TensorFlow Datasets: give the folder of one: %s", e.path, formats.ErrNotDataset, list)
}

func (e *errSeveral) Unwrap() error { return formats.ErrNotDataset }

// preparedIn returns the folder of the only dataset of TensorFlow Datasets below a folder, "" if there is none.
func preparedIn(path string) (string, error) {
	const deepest = 3 // NAME/CONFIG/VERSION
	switch folders := prepared(path, deepest); len(folders) {
	case 0:
		return "", nil
	case 1:
		return folders[0], nil
	default:
		slices.Sort(folders)
		return "", &errSeveral{path, folders}
	}
}

// prepared lists the folders of datasets at most depth folders below one. It looks only into folders with few entries, since
// folders of images have many.
func prepared(path string, depth int) (folders []string) {
	const many = 64
	f, err := unblocked.Open(path)
	if err != nil {
		return nil // what cannot be read has none
	}
	entries, _ := f.ReadDir(many + 1)
	_ = f.Close()
	if len(entries) > many {
		return nil
	}
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		switch {
		case !e.IsDir():
		case version.MatchString(e.Name()) && durable.Exists(filepath.Join(below, "features.json")):
			folders = append(folders, below)
		case depth > 1:
			folders = append(folders, prepared(below, depth-1)...)
		}
	}
	return folders
}
