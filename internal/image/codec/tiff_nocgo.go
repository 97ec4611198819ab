//go:build !cgo

package codec

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

func rawTIFF(_, _ []byte, _ *tiffKind, _ *pixel.Stop) error {
	return fmt.Errorf("%w: TIFF needs libtiff, which this build of dsconv lacks: build it with CGO_ENABLED=1", pixel.ErrUnsupported)
}
