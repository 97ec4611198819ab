package numpy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Format opens NumPy's arrays.
type Format struct{}

var (
	_ formats.Format        = Format{}
	_ formats.OptionsOpener = Format{}
)

// Name is "numpy".
func (Format) Name() string { return "numpy" }

// Aliases are the names of its files.
func (Format) Aliases() []string { return []string{"npy", "npz"} }

// Match reports whether path is an .npy or .npz file, or a folder with .npy files of images and of labels.
func (Format) Match(path string) bool {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return false
	case st.IsDir():
		return matchFolder(path)
	case !st.Mode().IsRegular():
		return false
	case strings.HasSuffix(path, ".npy"):
		_, err := header(path)
		return err == nil
	}
	return strings.HasSuffix(path, ".npz") && isZip(path)
}

func isZip(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 4)
	_, err = f.Read(b)
	return err == nil && string(b) == "PK\x03\x04"
}

// matchFolder reports whether the folder has an array of images by its name and shape, and labels for it. A folder
// that dsconv unpack wrote has a file for each image.
func matchFolder(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "labels.json")); err == nil {
		return false
	}
	f, err := openFolder(dir)
	if err != nil {
		return false
	}
	r, err := assign(dir, f.files, nil)
	if err != nil || len(r.fields) < 2 {
		return false
	}
	for _, fields := range r.splits {
		if h, err := header(filepath.Join(dir, fields[imageField]+".npy")); err != nil || len(h.Shape) < 3 {
			return false
		}
	}
	return true
}

// Open opens the arrays at path by their names.
func (f Format) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the arrays at path. The map's image and label are names of arrays, without the split: label=fine is
// train_fine and test_fine too. A label may also be the path of an .npy file, relative to the dataset's folder, if there
// is one array of images. More fields are more labels.
func (Format) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if ctx == nil {
		return nil, errors.New("numpy: the context is nil: give context.Background()")
	}
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	s := &arrays.Set{Path: path, Format: Format{}.Name(), Recipe: o.Recipe()}
	if err := fill(ctx, s, path, o.Map); err != nil {
		for _, f := range s.Files {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	return s.Open()
}
