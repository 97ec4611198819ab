//go:build cgo

package hdf5

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/hdf5"

	"github.com/dsconv/dsconv/formats"
)

// locate returns the extent that the library has for a dataset.
func locate(f *hdf5.File, name string) (p extent, err error) {
	set, err := f.OpenDataset(name)
	if err != nil {
		return extent{}, fmt.Errorf("dataset %s: %w", name, explain(err))
	}
	defer set.Close()
	p = extent{name: name}
	var length int64
	if p.offset, length, err = storageExtent(set); err != nil {
		return extent{}, fmt.Errorf("dataset %s: %w", name, err)
	}
	if p.dims, err = dimensions(set); err != nil {
		return extent{}, fmt.Errorf("dataset %s: %w", name, err)
	}
	if p.dtype, err = elementType(set); err != nil {
		return extent{}, fmt.Errorf("dataset %s: %w", name, err)
	}
	if _, ok := elements(p.dims, math.MaxInt64/8); !ok || p.length() != length {
		return extent{}, fmt.Errorf("dataset %s: HDF5 reserved %d bytes for %s of shape %v", name, length, p.dtype, p.dims)
	}
	return p, nil
}

func dimensions(set *hdf5.Dataset) ([]int, error) {
	space := set.Space()
	if space == nil {
		return nil, explain(errors.New("cannot read its dimensions"))
	}
	defer space.Close()
	udims, _, err := space.SimpleExtentDims()
	if err != nil {
		return nil, explain(err)
	}
	dims := make([]int, len(udims))
	for i, d := range udims {
		dims[i] = int(d)
	}
	return dims, nil
}

func elementType(set *hdf5.Dataset) (formats.DType, error) {
	t, err := set.Datatype()
	if err != nil {
		return "", explain(err)
	}
	defer t.Close()
	for _, code := range typeCodes[1:] {
		if native(code).Equal(t) {
			return code, nil
		}
	}
	return "", fmt.Errorf("its elements of %d bytes are of an unknown type", t.Size())
}

// compareWithLibrary opens the file at path with the library and compares the extents of all
// datasets with p.
func compareWithLibrary(path string, p extents) error {
	return locked(func() error {
		f, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return explain(err)
		}
		for i := range p {
			found, err := locate(f, p[i].name)
			if err == nil && (found.offset != p[i].offset || found.dtype != p[i].dtype || !slices.Equal(found.dims, p[i].dims)) {
				err = fmt.Errorf("dataset %s: HDF5 finds %s %v at byte %d, not %s %v at %d",
					p[i].name, found.dtype, found.dims, found.offset, p[i].dtype, p[i].dims, p[i].offset)
			}
			if err != nil {
				return errors.Join(err, f.Close())
			}
		}
		return explain(f.Close())
	})
}
