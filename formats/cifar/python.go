package cifar

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/pickle"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

const (
	// batchMemory is for a pickle of 50,000 labels and file names.
	batchMemory = 64 << 20
	metaMemory  = 1 << 20
)

// dict reads a pickle that is a dict.
func dict(b []byte, memory int64) (*pickle.Dict, error) {
	v, err := pickle.Load(b, memory)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	d, ok := v.(*pickle.Dict)
	if !ok {
		return nil, fmt.Errorf("%w: it is not a batch of CIFAR: the pickle is not a dict", formats.ErrDamaged)
	}
	return d, nil
}

// batch fills b with what a pickled batch has: data, labels and filenames.
func (o *opening) batch(b *arrays.Block, data []byte) error {
	d, err := dict(data, batchMemory)
	if err != nil {
		return err
	}
	v, _ := d.Get("data")
	a, ok := v.(*pickle.Array)
	if !ok || a.DType != "|u1" || a.Fortran || len(a.Shape) != 2 || a.Shape[1] != pixels {
		return fmt.Errorf("%w: it is not a batch of CIFAR: data is not an array of uint8 of shape (N, %d)", formats.ErrDamaged, pixels)
	}
	b.Images.Data, b.Images.Count, b.Images.Stride = a.Data, a.Shape[0], pixels
	for _, f := range o.labels {
		v, _ := d.Get(f.keys)
		column, err := labelColumn(v)
		if err != nil {
			return fmt.Errorf("%s: %w", f.keys, err)
		}
		b.Labels = append(b.Labels, arrays.OfBytes(column))
	}
	v, _ = d.Get("filenames")
	names, ok := texts(v)
	if !ok {
		return fmt.Errorf("%w: filenames is not a list of texts", formats.ErrDamaged)
	}
	b.Columns = [][]string{names}
	return nil
}

// labelColumn returns a list of labels as bytes.
func labelColumn(v any) ([]byte, error) {
	items, ok := pickle.Sequence(v)
	if !ok {
		return nil, fmt.Errorf("%w: it is not a list", formats.ErrDamaged)
	}
	column := make([]byte, len(items))
	for i, v := range items {
		x, ok := v.(int64)
		if !ok || x < 0 || x > 255 {
			return nil, fmt.Errorf("%w: label %d is a %T, or not between 0 and 255", formats.ErrDamaged, i, v)
		}
		column[i] = byte(x)
	}
	return column, nil
}

// texts returns a list of texts.
func texts(v any) ([]string, bool) {
	items, ok := pickle.Sequence(v)
	if !ok {
		return nil, false
	}
	list := make([]string, len(items))
	for i, v := range items {
		if list[i], ok = pickle.Text(v); !ok || !utf8.ValidString(list[i]) {
			return nil, false
		}
	}
	return list, true
}

// pickledNames reads a list of class names from the pickle of names.
func (o *opening) pickledNames(key string) ([]string, error) {
	path := o.dir.Path(o.meta)
	f, err := o.dir.Open(o.meta)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxNames))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, err := dict(b, metaMemory)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v, _ := d.Get(key)
	names, ok := texts(v)
	if !ok {
		return nil, fmt.Errorf("%s: %w: %s is not a list of texts", path, formats.ErrDamaged, key)
	}
	return names, checkNames(path, names)
}
