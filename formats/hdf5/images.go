package hdf5

import (
	"context"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/h5file"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Images is HDF5 files of arrays of other programs, "hdf5-arrays". The zero value is ready for use.
type Images struct{}

var (
	_ formats.Format        = Images{}
	_ formats.Aliased       = Images{}
	_ formats.OptionsOpener = Images{}
)

// Name implements formats.Format.
func (Images) Name() string { return "hdf5-arrays" }

// Aliases implements formats.Aliased.
func (Images) Aliases() []string { return []string{"h5py"} }

// Match implements formats.Format: it matches HDF5 files that can be read and that dsconv did not write.
func (Images) Match(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || !begins(path) {
		return false
	}
	m, err := mapped.Map(path)
	if err != nil {
		return false
	}
	own := true
	err = guard.Read(m.Data, func() error {
		f, err := h5file.Open(m.Data)
		if err != nil {
			return err
		}
		names, _, err := f.Members("")
		own = slices.Contains(names, ownGroup)
		return err
	})
	return err == nil && m.Close() == nil && !own
}

// ownGroup is the group with the description of a dataset that dsconv wrote.
const ownGroup = "dsconv"

// begins reports whether a file has the signature of HDF5, perhaps after a user block.
func begins(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	for at := int64(0); at <= 1<<20; at = max(512, 2*at) {
		if n, err := f.ReadAt(head, at); err != nil || n < len(head) {
			return false
		}
		if h5file.Is(head) {
			return true
		}
	}
	return false
}

// Open implements formats.Format.
func (f Images) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith implements formats.OptionsOpener. The map names arrays; see the package's documentation.
func (Images) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return openImages(path, o)
}
