//go:build !cgo

package preprocess

import "runtime"

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return runtime.Version() }

// jpegTranscoder needs libjpeg-turbo: Recipe.Validate refuses what would use it.
type jpegTranscoder struct{ stop *Stop }

func (t *jpegTranscoder) append(dst, _, _ []byte, interval int) ([]byte, error) {
	return dst, Encode{Tiled: true, Interval: interval}.checkBuild()
}

func (t *jpegTranscoder) close() {}
