//go:build cgo

package hdf5

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"gonum.org/v1/hdf5"
)

// headSize is the space for HDF5's header before the images' bytes.
const headSize = 64 << 10

// content is the content of a skeleton, in the order in which the library places it.
type content struct {
	images  hole
	bounds  []hole // of images whose shapes vary; and labels
	count   int    // of samples
	keys    func(do func(key string) error) error
	classes []string
	rest    []hole // extra fields and the description
	index   hole
}

// holes returns all datasets whose bytes the library does not write, the images first.
func (c *content) holes() []hole {
	return slices.Concat([]hole{c.images}, c.bounds, c.rest, []hole{c.index})
}

// buildSkeleton writes the file at path and returns where the bytes of its holes belong, and the
// extents of these datasets.
func buildSkeleton(path string, c *content) (spans []span, p extents, err error) {
	err = locked(func() error {
		if err := createAligned(path, false, headSize, &c.images); err != nil {
			return err
		}
		err := edit(path, hdf5.F_ACC_RDWR, func(k *skeleton) error { return k.build(c) })
		if err == nil {
			err = createAligned(path, true, indexAlign, &c.index)
		}
		if err != nil {
			return err
		}
		return edit(path, hdf5.F_ACC_RDONLY, func(k *skeleton) error {
			spans, p, err = k.locateAll(c.holes())
			return err
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("write %s: %w", path, err)
	}
	return spans, p, nil
}

// skeleton is an HDF5 file that is being written.
type skeleton struct {
	file   *hdf5.File
	plain  *hdf5.PropList
	groups []string
}

// edit calls do with the file at path.
func edit(path string, flags int, do func(k *skeleton) error) error {
	f, err := hdf5.OpenFile(path, flags)
	if err != nil {
		return explain(err)
	}
	return errors.Join(do(&skeleton{file: f}), explain(f.Close()))
}

func (k *skeleton) build(c *content) (err error) {
	if k.plain, err = hdf5.NewPropList(hdf5.P_DATASET_CREATE); err != nil {
		return explain(err)
	}
	defer k.plain.Close()
	if err := contiguous(k.plain); err != nil {
		return err
	}
	d, err := k.file.OpenDataset(c.images.name)
	if err != nil {
		return explain(err)
	}
	if err := c.images.finish(d); err != nil {
		return err
	}
	if err := k.create(c.bounds); err != nil {
		return err
	}
	if err := writeStrings(k.file, keysName, c.count, c.keys); err != nil {
		return err
	}
	if len(c.classes) > 0 {
		err := writeStrings(k.file, classesName, len(c.classes), func(do func(string) error) error {
			for _, name := range c.classes {
				if err := do(name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return k.create(c.rest)
}

// create creates the datasets, and the group of each before the first one in it.
func (k *skeleton) create(holes []hole) error {
	for i := range holes {
		h := &holes[i]
		if err := k.group(path.Dir(h.name)); err != nil {
			return err
		}
		if err := k.dataset(h); err != nil {
			return fmt.Errorf("dataset %s: %w", h.name, err)
		}
	}
	return nil
}

func (k *skeleton) group(name string) error {
	if name == "." || slices.Contains(k.groups, name) {
		return nil
	}
	k.groups = append(k.groups, name)
	g, err := k.file.CreateGroup(name)
	if err != nil {
		return explain(err)
	}
	return explain(g.Close())
}

func (k *skeleton) dataset(h *hole) error {
	space, err := hdf5.CreateSimpleDataspace(h.dims, nil)
	if err != nil {
		return explain(err)
	}
	defer space.Close()
	d, err := k.file.CreateDatasetWith(h.name, native(h.dtype), space, k.plain)
	if err != nil {
		return explain(err)
	}
	return h.finish(d)
}

// finish writes the attribute and closes d.
func (h *hole) finish(d *hdf5.Dataset) (err error) {
	if h.encoding != "" {
		err = writeAttribute(d, "encoding", h.encoding)
	}
	return errors.Join(err, explain(d.Close()))
}

// locateAll returns where in the file the library put the holes, in their order, and their extents.
func (k *skeleton) locateAll(holes []hole) (spans []span, p extents, err error) {
	for i := range holes {
		h := &holes[i]
		e, err := locate(k.file, h.name)
		if err != nil {
			return nil, nil, err
		}
		e.hasChecksum = !h.values
		p = append(p, e)
		spans = append(spans, span{source: h.source, from: h.from, to: e.offset, length: e.length()})
	}
	slices.SortFunc(p, func(a, b extent) int { return strings.Compare(a.name, b.name) })
	return spans, p, nil
}
