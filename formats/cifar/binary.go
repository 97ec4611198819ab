package cifar

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// records fills b with the records of a binary file: the labels, a byte each, and the planes of the image.
func (o *opening) records(b *arrays.Block, data []byte) error {
	n := len(o.labels)
	size := n + pixels
	if len(data) == 0 || len(data)%size != 0 {
		return fmt.Errorf("%w: its records have %d bytes each, but it has %d bytes: it is truncated, or not a file of %s",
			formats.ErrDamaged, size, len(data), o.folder)
	}
	b.Images.Data, b.Images.Count, b.Images.Offset, b.Images.Stride = data, len(data)/size, n, size
	for k := range o.labels {
		at := n - 1 - k // of CIFAR-100 the coarse label comes first
		b.Labels = append(b.Labels, arrays.Column{
			Data: data, Type: arrays.Number{Kind: 'u', Size: 1}, Count: b.Images.Count, Offset: at, Stride: size, Width: 1,
		})
	}
	return nil
}

// maxNames bounds a file of class names.
const maxNames = 1 << 16

// textNames reads a file of class names, one a line.
func (o *opening) textNames(name string) ([]string, error) {
	path := o.dir.Path(name)
	f, err := o.dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxNames+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(b) > maxNames || !utf8.Valid(b) {
		return nil, fmt.Errorf("%s: %w: it is not a list of class names", path, formats.ErrDamaged)
	}
	names := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' })
	return names, checkNames(path, names)
}

// checkNames returns an error unless there are 1 to 256 different names.
func checkNames(path string, names []string) error {
	sorted := slices.Sorted(slices.Values(names))
	if n := len(names); n == 0 || n > 256 || len(slices.Compact(sorted)) != n || sorted[0] == "" {
		return fmt.Errorf("%s: %w: it is not a list of class names", path, formats.ErrDamaged)
	}
	return nil
}
