package goimage

import (
	"bytes"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// StoppableReader is a bytes.Reader that returns an error once it is stopped.
type StoppableReader struct {
	bytes.Reader
	Stop *pixel.Stop
}

func (r *StoppableReader) Read(p []byte) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// ReadAt implements io.ReaderAt.
func (r *StoppableReader) ReadAt(p []byte, off int64) (int, error) {
	if err := r.Stop.Err(); err != nil {
		return 0, err
	}
	return r.Reader.ReadAt(p, off)
}
