package cifar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// Format opens CIFAR-10 and CIFAR-100.
type Format struct{}

var _ formats.Format = Format{}

// Name is "cifar".
func (Format) Name() string { return "cifar" }

// Match reports whether path is a folder with one of the versions.
func (Format) Match(path string) bool {
	_, _, ok := find(path)
	return ok
}

// Open opens the dataset at path. A split whose files are not there is left out; a split with some of its files
// is an error that names the missing one.
func (Format) Open(path string) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	dir, l, ok := find(path)
	if !ok {
		return nil, fmt.Errorf("%s: %w: it has not the files of one version of CIFAR-10 or CIFAR-100, such as those of cifar-10-batches-bin",
			path, formats.ErrNotDataset)
	}
	o := opening{layout: l, dir: dir, set: &arrays.Set{Path: path, Format: Format{}.Name()}}
	if err := o.run(); err != nil {
		for _, f := range o.set.Files {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	return o.set.Open()
}

// opening is a dataset that is being opened.
type opening struct {
	*layout
	dir string
	set *arrays.Set
}

func (o *opening) run() error {
	classes := o.textNames
	if o.python {
		classes, o.set.Columns = o.pickledNames, []string{"filename"}
	}
	for _, f := range o.labels {
		names, err := classes(f.names)
		if err != nil {
			return err
		}
		o.set.Labels = append(o.set.Labels, arrays.Label{Name: f.name, Classes: names})
	}
	if err := o.split("test", []string{o.test}); err != nil {
		return err
	}
	return o.split("train", o.train)
}

// split adds the files of a split, unless none of them is there.
func (o *opening) split(name string, files []string) error {
	if !durable.IsFile(filepath.Join(o.dir, files[0])) {
		for _, file := range files[1:] {
			if durable.IsFile(filepath.Join(o.dir, file)) {
				return fmt.Errorf("%s: %w: the file %s is missing, but %s is there", o.dir, formats.ErrDamaged, files[0], file)
			}
		}
		return nil
	}
	for _, file := range files {
		if err := o.file(name, filepath.Join(o.dir, file)); err != nil {
			return err
		}
	}
	return nil
}

// file adds one file.
func (o *opening) file(split, path string) error {
	f, err := arrays.Map(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w: this file of the split %s is missing", path, formats.ErrDamaged, split)
	}
	if err != nil {
		return err
	}
	o.set.Files = append(o.set.Files, f)
	b := arrays.Block{Split: split, File: f, Images: arrays.Pixels{
		DType: formats.Uint8, Shape: [3]int{side, side, channels}, Planar: true,
	}}
	if o.python {
		err = f.Guarded(func() error { return o.batch(&b, f.Data) })
	} else {
		err = o.records(&b, f.Data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	o.set.Blocks = append(o.set.Blocks, b)
	return nil
}
