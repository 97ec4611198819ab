package safetensors

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dsconv/dsconv/internal/durable"
)

// ChecksumKey is the metadata's key of the file's checksum, 64 hexadecimal digits.
const ChecksumKey = "sha256"

// ErrDamaged is in the chain of the error for a file that is not as Write wrote it.
var ErrDamaged = errors.New("damaged, or not such a file")

// Tensor is an array with a name.
type Tensor struct {
	Name  string
	DType string // such as "F32" or "I64"
	Shape []int  // empty for a scalar
	Data  []byte // little-endian, row-major
}

// File is the contents of a file.
type File struct {
	Metadata map[string]string // without the checksum
	Tensors  []Tensor
}

// dtypes has the number of bytes in an element of each type.
var dtypes = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// Write writes the file at path and replaces one that exists. Whatever stops
// it, path is the old file or the new one, whole.
func Write(path string, f *File) error {
	parts, err := f.encode()
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.Write(path, func(w io.Writer) error {
		for _, p := range parts {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// Read reads the file at path. ErrDamaged is in the error's chain if Write did not write the
// file or it was changed since; fs.ErrNotExist if there is none.
func Read(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return f, nil
}
