//go:build cgo

package hdf5

import (
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// Open implements formats.Format.
func (Format) Open(path string) (formats.Dataset, error) {
	d, err := open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Create implements formats.WritableFormat.
func (Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := create(filepath.Clean(path), m, o)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Resume implements formats.WritableFormat.
func (Format) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return resume(filepath.Clean(path))
}
