//go:build cgo

package hdf5

import (
	"fmt"
	"slices"
)

// compareWithLibrary opens the file at path with the library and compares the extents of all
// datasets with p.
func compareWithLibrary(path string, p extents) error {
	return locked(func() error {
		return openFile(path, false, 1, func(f file) error {
			for i := range p {
				found, err := f.locate(p[i].name)
				if err != nil {
					return err
				}
				if found.offset != p[i].offset || found.dtype != p[i].dtype || !slices.Equal(found.dims, p[i].dims) {
					return fmt.Errorf("dataset %s: HDF5 finds %s %v at byte %d, not %s %v at %d",
						p[i].name, found.dtype, found.dims, found.offset, p[i].dtype, p[i].dims, p[i].offset)
				}
			}
			return nil
		})
	})
}
