//go:build !cgo

package jpeg

import (
	"fmt"
	"runtime"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return runtime.Version() }

// jpegTranscoder needs libjpeg-turbo: Recipe.Validate refuses what would use it.
type jpegTranscoder struct{ stop *pixel.Stop }

func (t *jpegTranscoder) append(dst, _, _ []byte, _ int) ([]byte, error) {
	return dst, fmt.Errorf("%w: tiling a JPEG needs libjpeg-turbo, which this build of dsconv lacks", pixel.ErrUnsupported)
}

func (t *jpegTranscoder) close() {}
