//go:build !cgo

package lmdb

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

func notBuilt(action, path string) error {
	return fmt.Errorf("%s %s: writing LMDB is %w: install gcc (apt-get install gcc) and build with CGO_ENABLED=1", action, path, formats.ErrNotBuilt)
}

// Create returns formats.ErrNotBuilt.
func (Format) Create(path string, _ formats.Meta, _ formats.CreateOptions) (formats.Writer, error) {
	return nil, notBuilt("create", path)
}

// Resume returns formats.ErrNotBuilt.
func (Format) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return nil, formats.Meta{}, nil, notBuilt("resume", path)
}
