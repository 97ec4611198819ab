//go:build !cgo

package jpeg

import "runtime"

// DecoderVersion is the version of the decoder that DecoderName names.
func DecoderVersion() string { return runtime.Version() }

// JpegTranscoder is pure Go.
type JpegTranscoder struct{ GoTranscoder }

func (t *JpegTranscoder) Close() { *t = JpegTranscoder{} }
