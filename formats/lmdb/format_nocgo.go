//go:build !cgo

package lmdb

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Built returns formats.ErrNotBuilt; see formats.CheckBuilt.
func (Format) Built() error {
	return fmt.Errorf("writing LMDB is %w: install gcc (apt-get install gcc) and build with CGO_ENABLED=1", formats.ErrNotBuilt)
}

// Create returns formats.ErrNotBuilt.
func (f Format) Create(path string, _ formats.Meta, _ formats.CreateOptions) (formats.Writer, error) {
	return nil, fmt.Errorf("create %s: %w", path, f.Built())
}

// Resume returns formats.ErrNotBuilt.
func (f Format) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return nil, formats.Meta{}, nil, fmt.Errorf("resume %s: %w", path, f.Built())
}

// LibraryVersion returns "": this build lacks LMDB's library.
func LibraryVersion() string { return "" }
