package h5arrays

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/h5file"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// matlab is how MATLAB's files begin, before HDF5's signature.
const matlab = "MATLAB 7.3"

// errMATLAB refuses files whose arrays, read as HDF5's, would be transposed images and labels that are floats.
func errMATLAB(path string) error {
	return fmt.Errorf("%s: %w: it is a file of MATLAB's (v7.3), whose dimensions are in the opposite order, and whose numbers are floats: "+
		"read it by h5py, transpose the images to N x H x W x C, and save them with integer labels by h5py or numpy.savez", path, formats.ErrSchema)
}

// labelsBeside returns the file with the labels of NAME_x.h5, which is NAME_y.h5, and the split that NAME has; "" if there is none.
func labelsBeside(path string) (labels, split string) {
	stem, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	name, ok := strings.CutSuffix(stem, "_x")
	if labels = name + "_y" + ext; !ok || !durable.Exists(labels) {
		return "", ""
	}
	split, _ = formats.CutSplit(filepath.Base(name))
	return labels, split
}

// imagesBeside returns the file whose labels are in NAME_y.h5, "" if there is none.
func imagesBeside(path string) string {
	ext := filepath.Ext(path)
	name, ok := strings.CutSuffix(strings.TrimSuffix(path, ext), "_y")
	if images := name + "_x" + ext; ok && durable.Exists(images) {
		return images
	}
	return ""
}

// loadPaired reads the labels from the file beside this one, as PatchCamelyon has them, if this one has none.
func (d *dataset) loadPaired() error {
	path, split := labelsBeside(d.path)
	p := d.parts[0]
	if path == "" || len(d.parts) > 1 || p.label != nil {
		return nil
	}
	if p.split == "" && split != "" {
		p.split = split
		d.meta.Splits = []formats.Split{{Name: split, Count: p.count}}
	}
	state, err := filestate.Of(path)
	if err != nil {
		return err
	}
	m, err := mapped.Map(path)
	if err != nil {
		return err
	}
	err = guard.Read(m.Data, func() error { return d.readPaired(m.Data) })
	if err := errors.Join(err, state.Check(path), m.Close()); err != nil {
		return fmt.Errorf("the labels in %s: %w", path, err)
	}
	d.paired, p.label = &state, nil // all labels are in memory
	return nil
}

// readPaired reads the labels that a file's bytes have.
func (d *dataset) readPaired(data []byte) error {
	file, err := h5file.Open(data)
	if err != nil {
		return err
	}
	names, _, err := file.Members("")
	if err != nil {
		return err
	}
	f := &finder{file: file}
	name := f.named("label", labelNames, names)
	if name == "" {
		return fmt.Errorf("%w: no array is named as labels are; it has %s", formats.ErrSchema, strings.Join(names[:min(len(names), 30)], ", "))
	}
	p := d.parts[0]
	if p.label, err = f.open("", name); err != nil {
		return err
	}
	if kind := labelKind(p.label); p.label.Rows() != p.count || kind != formats.Label {
		return fmt.Errorf("%w: the array %s has the shape %v; for %d images it must have %d class indices", formats.ErrSchema, name, p.label.Dims, p.count, p.count)
	}
	return d.loadLabels(file)
}
