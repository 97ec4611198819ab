//go:build cgo

package hdf5

import (
	"fmt"
	"path"
	"slices"
	"strings"
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

// buildSkeleton writes the file at path and returns where the bytes of its holes belong, and the
// extents of these datasets.
func buildSkeleton(path string, c *content) (spans []span, p extents, err error) {
	err = locked(func() error {
		if err := createFile(path, headSize, func(f file) error { return f.create(&c.images) }); err != nil {
			return err
		}
		if err := openFile(path, true, 1, c.build); err != nil {
			return err
		}
		return openFile(path, true, indexAlign, func(f file) error {
			if err := f.create(&c.index); err != nil {
				return err
			}
			spans, p, err = f.locateAll(slices.Concat([]hole{c.images}, c.bounds, c.rest, []hole{c.index}))
			return err
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("write %s: %w", path, err)
	}
	return spans, p, nil
}

// build creates what lies between the images and the index.
func (c *content) build(f file) error {
	if err := f.encode(&c.images); err != nil {
		return err
	}
	if err := f.createAll(c.bounds); err != nil {
		return err
	}
	if err := f.writeStrings(keysName, c.count, c.keys); err != nil {
		return err
	}
	if len(c.classes) > 0 {
		err := f.writeStrings(classesName, len(c.classes), func(do func(string) error) (err error) {
			for i := 0; err == nil && i < len(c.classes); i++ {
				err = do(c.classes[i])
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return f.createAll(c.rest)
}

// createAll creates the datasets, and the group of each before the first one in it.
func (f file) createAll(holes []hole) error {
	last := "."
	for i := range holes {
		h := &holes[i]
		if group := path.Dir(h.name); group != "." && group != last {
			if err := f.createGroup(group); err != nil {
				return err
			}
			last = group
		}
		if err := f.create(h); err != nil {
			return err
		}
		if err := f.encode(h); err != nil {
			return err
		}
	}
	return nil
}

// encode writes the attribute with the values' encoding.
func (f file) encode(h *hole) error {
	if h.encoding == "" {
		return nil
	}
	return f.writeAttribute(h.name, "encoding", h.encoding)
}

// locateAll returns where in the file the library put the holes, in their order, and their extents.
func (f file) locateAll(holes []hole) (spans []span, p extents, err error) {
	for i := range holes {
		h := &holes[i]
		e, err := f.locate(h.name)
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
