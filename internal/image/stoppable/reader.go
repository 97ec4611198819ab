// Package stoppable has readers for decoders written in Go, which end early when their image is
// stopped.
package stoppable

import (
	"bytes"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Reader is a bytes.Reader that returns an error once it is stopped.
type Reader struct {
	bytes.Reader
	Stop *pixel.Stop
}

func (r *Reader) Read(p []byte) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// ReadAt implements io.ReaderAt.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.ReadAt(p, off)
}
