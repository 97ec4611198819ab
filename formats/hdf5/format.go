package hdf5

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Format is HDF5; see the package's documentation.
type Format struct{}

var _ formats.WritableFormat = Format{}

// Name implements formats.Format.
func (Format) Name() string { return "hdf5" }

// Aliases implements formats.Aliased.
func (Format) Aliases() []string { return []string{"h5"} }

// Match implements formats.Format: it matches a path that ends in .h5 or .hdf5, in any case, and an HDF5 file.
func (Format) Match(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".h5", ".hdf5":
		return true
	}
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(signature))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == signature
}

// Traits implements formats.WritableFormat: samples come in key order.
func (Format) Traits() formats.Traits { return formats.Traits{Ordered: true} }

// signature begins an HDF5 file.
const signature = "\x89HDF\r\n\x1a\n"
