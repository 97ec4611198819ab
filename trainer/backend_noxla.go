//go:build !cgo || !(linux || darwin)

package trainer

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/dsconv/dsconv/formats"
)

func openXLA(string) (compute.Backend, error) {
	return nil, fmt.Errorf("XLA is %w: build with CGO_ENABLED=1 on Linux or macOS", formats.ErrNotBuilt)
}
