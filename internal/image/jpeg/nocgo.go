//go:build !cgo

package jpeg

import "github.com/dsconv/dsconv/preprocess/pixel"

const (
	DecoderName     = "none"
	HasLibjpegTurbo = false
)

type (
	Decoder        struct{ Stop *pixel.Stop }
	Encoder        struct{ Stop *pixel.Stop }
	jpegTranscoder struct{ stop *pixel.Stop }
)

func DecoderVersion() string { return "" }

func SlowJPEG() string { return "" }

func (d *Decoder) Decode(*pixel.Image, []byte, Request) (warning string, err error) {
	return "", pixel.ErrNoCgo
}

func (d *Decoder) Close() {}

func (e *Encoder) Encode(dst []byte, _ *pixel.Image, _ EncodeOptions) ([]byte, error) {
	return dst, pixel.ErrNoCgo
}

func (e *Encoder) Close() {}

func (t *jpegTranscoder) append(dst, _, _ []byte, _ int) ([]byte, error) { return dst, pixel.ErrNoCgo }

func (t *jpegTranscoder) close() {}
