package fields

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// readFile sets v to the file of a field.
func (s *Set) readFile(i int, segments []string, v *formats.Value) error {
	f := s.specs[i]
	one, _, err := s.index.find(i, segments)
	if err != nil {
		return err
	}
	data, err := s.in.Read(one.Path, one.Size, one.ModTime, v.Buffer())
	v.SetOwn(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", one.Path, err)
	}
	if err := f.interpret(v, strings.EqualFold(path.Ext(one.Path), ".npy")); err != nil {
		return fmt.Errorf("%s: %w", one.Path, err)
	}
	return nil
}

// interpret sets the type of v, the content of a file of the field.
func (f *spec) interpret(v *formats.Value, isArray bool) error {
	v.Encoding, v.DType = formats.Plain, ""
	v.SetShape()
	switch f.kind {
	case formats.Image, formats.Mask:
		if !isArray {
			v.Encoding = formats.Sniff(v.Data)
			if v.Encoding == "" {
				return errors.New("not an image that dsconv reads")
			}
			return nil
		}
		return f.pixels(v)
	case formats.Boxes, formats.Array:
	default:
		if err := legible.CheckPlain(f.kind, v.Data); err != nil {
			return fmt.Errorf("%w; kind=bytes takes it as it is", err)
		}
		return nil
	}
	t, shape, offset, err := npy.Parse(v.Data)
	if err != nil {
		return err
	}
	v.Data, v.Encoding, v.DType = v.Data[offset:], formats.Raw, t
	v.SetShape(shape...)
	if f.kind == formats.Array && (t != f.dtype || len(shape) != len(f.shape)) {
		return fmt.Errorf("an array of %s with %d dimensions; other samples have %s with %d", t, len(shape), f.dtype, len(f.shape))
	}
	if f.kind == formats.Boxes && (t != formats.Float32 || len(shape) != 2 || shape[1] != 4) {
		return fmt.Errorf("boxes are float32 of shape (N,4), not %s %v", t, shape)
	}
	return nil
}
