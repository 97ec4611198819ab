package numpy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// fill adds the arrays at path to s.
func fill(ctx context.Context, s *arrays.Set, path string, m map[string]string) error {
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return formats.NotFound(path)
	}
	if err != nil {
		return err
	}
	var c container
	switch {
	case !st.IsDir() && strings.HasSuffix(path, ".npy"):
		return fillFile(s, path, m)
	case st.IsDir():
		c, err = openFolder(path)
	default:
		c, err = openArchive(path, s)
	}
	if err != nil {
		return err
	}
	r, err := assign(path, c.names(), m)
	if err != nil {
		return err
	}
	files := outside(path, m)
	fields := slices.AppendSeq(slices.Clone(r.fields[1:]), maps.Keys(files))
	slices.SortFunc(fields, compareFields)
	s.Labels = labels(fields)
	for _, split := range slices.Sorted(maps.Keys(r.splits)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := source{set: s, in: c, arrays: r.splits[split], files: files}
		if err := from.add(split, len(r.splits)); err != nil {
			return err
		}
	}
	return nil
}

// fillFile adds an .npy file of images, and its labels.
func fillFile(s *arrays.Set, path string, m map[string]string) error {
	if image, ok := m[imageField]; ok {
		return fmt.Errorf("%s: %w: the map has image=%s, but the path is the file of the images: leave it out", path, formats.ErrSchema, image)
	}
	files := outside(path, m)
	for field, name := range m {
		if files[field] == "" {
			return fmt.Errorf("%s: %w: the map has %s=%s: give an .npy file", path, formats.ErrSchema, field, name)
		}
	}
	if beside := labelFile(path); len(m) == 0 && beside != "" {
		files[labelField] = beside
	}
	s.Labels = labels(slices.SortedFunc(maps.Keys(files), compareFields))
	split, _ := formats.CutSplit(strings.TrimSuffix(filepath.Base(path), ".npy"))
	files[imageField] = path
	from := source{set: s, files: files}
	return from.add(split, 1)
}

// outside lists the fields that the map gives files, as paths.
func outside(path string, m map[string]string) map[string]string {
	files := map[string]string{}
	for field, name := range m {
		if field == imageField || !strings.HasSuffix(name, ".npy") {
			continue
		}
		if !filepath.IsAbs(name) {
			dir := path
			if st, err := os.Stat(path); err != nil || !st.IsDir() {
				dir = filepath.Dir(path)
			}
			name = filepath.Join(dir, name)
		}
		files[field] = name
	}
	return files
}

func labels(fields []string) (list []arrays.Label) {
	for _, f := range fields {
		list = append(list, arrays.Label{Name: f})
	}
	return list
}

// source has the arrays of a split's fields: in the container, or in files.
type source struct {
	set    *arrays.Set
	in     container
	arrays map[string]string
	files  map[string]string
}

func (f *source) open(field string) (*member, error) {
	if file, ok := f.files[field]; ok {
		return openFile(file, f.set)
	}
	return f.in.open(f.arrays[field], f.set)
}

// add adds the split, one of so many.
func (f *source) add(split string, splits int) error {
	if splits > 1 && len(f.files) > 0 {
		return fmt.Errorf("%s: %w: the map gives a file of labels, but there are %d splits: map the names of arrays", f.set.Path, formats.ErrSchema, splits)
	}
	m, err := f.open(imageField)
	if err != nil {
		return err
	}
	b := arrays.Block{Split: split, File: m.file}
	if b.Images, err = m.pixels(); err != nil {
		return fmt.Errorf("%s: %w", f.name(imageField), err)
	}
	for _, l := range f.set.Labels {
		m, err := f.open(l.Name)
		if err != nil {
			return err
		}
		c, err := m.column()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name(l.Name), err)
		}
		b.Labels = append(b.Labels, c)
	}
	f.set.Blocks = append(f.set.Blocks, b)
	return nil
}

// name names a field's array in an error.
func (f *source) name(field string) string {
	if file, ok := f.files[field]; ok {
		return file
	}
	return f.set.Path + ": " + f.arrays[field]
}
