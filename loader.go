package dsconv

import (
	"errors"

	"github.com/dsconv/dsconv/reader"
)

// NewLoader opens the dataset at path, of any format, and returns a Loader of its batches. Closing
// the Loader closes the dataset.
func NewLoader(path string, c reader.Config) (*reader.Loader, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.NewLoader: the path is empty")}
	}
	return reader.Open(Formats(), path, c)
}
