//go:build !cgo

package preprocess

import "runtime"

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return runtime.Version() }

// jpegTranscoder is pure Go.
type jpegTranscoder struct{ goTranscoder }

func (t *jpegTranscoder) close() { *t = jpegTranscoder{} }
