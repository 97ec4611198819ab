package cifar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// Format opens CIFAR-10 and CIFAR-100.
type Format struct{}

var _ formats.Format = Format{}

// Name is "cifar".
func (Format) Name() string { return "cifar" }

// Match reports whether path is a folder with one of the versions.
func (Format) Match(path string) bool {
	_, _, ok := find(arrays.OnDisk(path))
	return ok
}

// MatchFS reports whether files, which lie in an archive, have one of the versions.
func (Format) MatchFS(files fs.FS) bool {
	if files == nil {
		return false
	}
	_, _, ok := find(arrays.InFS("", files))
	return ok
}

// OpenFS opens the dataset in files, which lie in the archive at path. They are read into memory, and not used
// afterwards. There is nothing to map.
func (f Format) OpenFS(ctx context.Context, path string, files fs.FS, o formats.ReadOptions) (formats.Dataset, error) {
	switch {
	case ctx == nil || files == nil:
		return nil, errors.New("cifar: the context or the files are nil: give context.Background() and those of an archive")
	case len(o.Map) > 0:
		return nil, fmt.Errorf("%s: %w: the batches of CIFAR have no fields to map", path, formats.ErrSchema)
	}
	return open(ctx, path, arrays.InFS(path, files))
}

// Open opens the dataset at path. A split whose files are not there is left out; a split with some of its files
// is an error that names the missing one.
func (Format) Open(path string) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	return open(context.Background(), path, arrays.OnDisk(path))
}

func open(ctx context.Context, path string, root arrays.Dir) (formats.Dataset, error) {
	dir, l, ok := find(root)
	if !ok {
		return nil, fmt.Errorf("%s: %w: it has not the files of one version of CIFAR-10 or CIFAR-100, such as those of cifar-10-batches-bin",
			path, formats.ErrNotDataset)
	}
	o := opening{ctx: ctx, layout: l, dir: dir, left: arrays.MaxUnpacked, set: &arrays.Set{Path: path, Format: Format{}.Name()}}
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
	ctx  context.Context
	dir  arrays.Dir
	left int64 // bytes that may still be in memory
	set  *arrays.Set
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
	if !o.dir.IsFile(files[0]) {
		for _, file := range files[1:] {
			if o.dir.IsFile(file) {
				return fmt.Errorf("%s: %w: the file %s is missing, but %s is there", o.dir.Path(""), formats.ErrDamaged, files[0], file)
			}
		}
		return nil
	}
	for _, file := range files {
		if err := cmp.Or(o.ctx.Err(), o.file(name, file)); err != nil {
			return err
		}
	}
	return nil
}

// file adds one file.
func (o *opening) file(split, name string) error {
	path := o.dir.Path(name)
	f, err := o.dir.Load(name, &o.left)
	if errors.Is(err, fs.ErrNotExist) {
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
