//go:build !cgo

package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

// hasLibtiff reports whether this build decodes TIFF by libtiff, as Pillow does.
const hasLibtiff = false

func rawTIFF([]byte, []byte, *tiffKind, *pixel.Stop) error { return pixel.ErrUnsupported }
