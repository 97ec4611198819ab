package idx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// Format opens IDX files.
type Format struct{}

var (
	_ formats.Format        = Format{}
	_ formats.OptionsOpener = Format{}
)

// Name is "idx".
func (Format) Name() string { return "idx" }

// Match reports whether path is a file of images in IDX's format, or a folder that has some.
func (Format) Match(path string) bool { return len(find(path)) > 0 }

// Open opens the files at path. Every split has labels, or none has.
func (f Format) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith opens the files at path. In a folder with the files of several datasets, such as EMNIST's, the map's image
// is what the names of one of them begin with, such as emnist-letters. There are no other entries.
func (Format) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if ctx == nil {
		return nil, errors.New("idx: the context is nil: give context.Background()")
	}
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if err := checkMap(path, o); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, formats.NotFound(path)
	}
	return open(ctx, path, find(path), o)
}

// MatchFS reports whether files, which lie in an archive, have some.
func (Format) MatchFS(files fs.FS) bool {
	return files != nil && len(findBelow(arrays.InFS("", files))) > 0
}

// OpenFS is OpenWith of files that lie in the archive at path. They are read into memory, and not used afterwards.
func (Format) OpenFS(ctx context.Context, path string, files fs.FS, o formats.ReadOptions) (formats.Dataset, error) {
	if ctx == nil || files == nil {
		return nil, errors.New("idx: the context or the files are nil: give context.Background() and those of an archive")
	}
	if err := checkMap(path, o); err != nil {
		return nil, err
	}
	return open(ctx, path, findBelow(arrays.InFS(path, files)), o)
}

func checkMap(path string, o formats.ReadOptions) error {
	for field := range o.Map {
		if field != "image" {
			return fmt.Errorf("%s: %w: IDX files have no field %s to map: only image=NAME, where the names of several datasets begin with NAME", path, formats.ErrSchema, field)
		}
	}
	return nil
}

func open(ctx context.Context, path string, found []pair, o formats.ReadOptions) (formats.Dataset, error) {
	pairs, err := choose(path, o.Map["image"], found)
	if err != nil {
		return nil, err
	}
	s := &arrays.Set{Path: path, Format: Format{}.Name(), Recipe: o.Recipe()}
	unlabelled := func(p pair) bool { return p.labels == "" }
	if !slices.ContainsFunc(pairs, unlabelled) {
		s.Labels = []arrays.Label{{Name: "label"}}
	} else if i := slices.IndexFunc(pairs, unlabelled); slices.ContainsFunc(pairs, func(p pair) bool { return p.labels != "" }) {
		return nil, fmt.Errorf("%s: %w: there is no file of labels beside it, such as train-labels-idx1-ubyte", pairs[i].dir.Path(pairs[i].images), formats.ErrSchema)
	}
	left := int64(arrays.MaxUnpacked)
	for _, p := range pairs {
		if err := cmp.Or(ctx.Err(), add(s, p, &left)); err != nil {
			for _, f := range s.Files {
				err = errors.Join(err, f.Close())
			}
			return nil, err
		}
	}
	return s.Open()
}

// add opens the files of a pair and adds them to s.
func add(s *arrays.Set, p pair, left *int64) error {
	a, err := openArray(p.dir, p.images, left)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, a.File)
	if len(a.dims) < 3 {
		return fmt.Errorf("%s: %w: an array of %v is not one of images, which has 3 or 4 dimensions", p.dir.Path(p.images), formats.ErrSchema, a.dims)
	}
	b := arrays.Block{Split: p.split, File: a.File, Images: pixels(a)}
	if p.labels == "" {
		s.Blocks = append(s.Blocks, b)
		return nil
	}
	l, err := openArray(p.dir, p.labels, left)
	if err != nil {
		return err
	}
	s.Files = append(s.Files, l.File)
	if len(l.dims) != 1 {
		return fmt.Errorf("%s: %w: an array of %v is not one of labels, which has 1 dimension", p.dir.Path(p.labels), formats.ErrSchema, l.dims)
	}
	b.Labels = []arrays.Column{arrays.OfBytes(l.Data[l.size:])}
	s.Blocks = append(s.Blocks, b)
	return nil
}

// pixels are the images in a.
func pixels(a *array) arrays.Pixels {
	shape := [3]int{a.dims[1], a.dims[2], 1}
	if len(a.dims) == 4 {
		shape[2] = a.dims[3]
	}
	stride := 0
	if a.dims[0] > 0 {
		stride = (len(a.Data) - a.size) / a.dims[0]
	}
	return arrays.Pixels{Data: a.Data, DType: formats.Uint8, Shape: shape, Count: a.dims[0], Offset: a.size, Stride: stride}
}
