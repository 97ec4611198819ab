//go:build !cgo

package lmdb

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

var errNotBuilt = fmt.Errorf("LMDB is %w: install gcc (apt-get install gcc) and build with CGO_ENABLED=1", formats.ErrNotBuilt)

// Open returns formats.ErrNotBuilt.
func (Format) Open(path string) (formats.Dataset, error) {
	return nil, fmt.Errorf("open %s: %w", path, errNotBuilt)
}

// Create returns formats.ErrNotBuilt.
func (Format) Create(path string, _ formats.Meta, _ formats.CreateOptions) (formats.Writer, error) {
	return nil, fmt.Errorf("create %s: %w", path, errNotBuilt)
}

// Resume returns formats.ErrNotBuilt.
func (Format) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return nil, formats.Meta{}, nil, fmt.Errorf("continue %s: %w", path, errNotBuilt)
}
