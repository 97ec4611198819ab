//go:build !cgo

package codec

import "github.com/dsconv/dsconv/preprocess/pixel"

func rawTIFF(_, _ []byte, _ *tiffKind, _ *pixel.Stop) error { return pixel.ErrNoCgo }

func webpPixels(*pixel.Image, []byte) error { return pixel.ErrNoCgo }
