package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// labelReader reads the labels of samples, also those that are not in Info. It belongs to one goroutine.
type labelReader struct {
	ds     formats.Dataset
	schema formats.Schema
	main   int // the designated label, or -1
	viewer formats.Viewer
	sample formats.Sample
}

func newLabelReader(ds formats.Dataset) *labelReader {
	r := &labelReader{ds: ds, schema: ds.Meta().Schema, main: ds.Meta().Schema.LabelIndex()}
	r.viewer, _ = ds.(formats.Viewer) // it copies no image
	return r
}

// inInfo reports whether the designated label is an index, which Info has.
func (r *labelReader) inInfo() bool { return r.main < 0 || r.schema[r.main].Kind == formats.Label }

// fields returns the label fields.
func (r *labelReader) fields() (list []int) {
	for k, f := range r.schema {
		if f.Kind.IsLabel() {
			list = append(list, k)
		}
	}
	return list
}

// use calls do with the values of sample i.
func (r *labelReader) use(i int, do func(values []formats.Value)) error {
	if r.viewer == nil {
		if err := r.ds.Read(i, &r.sample); err != nil {
			return err
		}
		do(r.sample.Values)
		return nil
	}
	if err := r.viewer.View(i, &r.sample); err != nil {
		return err
	}
	err := guard.Use(&r.sample, func() error {
		do(r.sample.Values)
		return nil
	})
	if err != nil {
		return fmt.Errorf("key %q: %w", r.sample.Key, err)
	}
	return nil
}

// classIndex returns the index of a class of the designated label. A class without a name is named by its index.
func (r *labelReader) classIndex(name string) (int64, bool) {
	if r.main < 0 || r.schema[r.main].Kind == formats.Number {
		return 0, false
	}
	classes := r.schema[r.main].Classes
	if len(classes) > 0 {
		x := slices.Index(classes, name)
		return int64(x), x >= 0
	}
	x, err := strconv.ParseInt(name, 10, 64)
	return x, err == nil && x >= 0
}

// hasAny reports whether sample i, described by in, has a label of those indices.
func (r *labelReader) hasAny(i int, in *formats.Info, wanted map[int64]bool) (any bool, err error) {
	if r.inInfo() {
		return wanted[in.Label], nil
	}
	err = r.use(i, func(values []formats.Value) {
		for x, set := range values[r.main].Data {
			any = any || set != 0 && wanted[int64(x)]
		}
	})
	return any, err
}

// labelOf returns the label v of field f for people and for JSON: the name of a class, a list of names, or a
// number; nil is no label.
func labelOf(f *formats.Field, v *formats.Value) any {
	switch f.Kind {
	case formats.Number:
		if x, ok := v.Float32(); ok && !math.IsNaN(float64(x)) {
			return x
		}
	case formats.MultiHot:
		names := []any{}
		for x, set := range v.Data {
			if set != 0 {
				names = append(names, className(f, int64(x)))
			}
		}
		return names
	default:
		if x, ok := v.Int64(); ok && x >= 0 {
			return className(f, x)
		}
	}
	return nil
}

// className returns the name of class x, or x if it has none.
func className(f *formats.Field, x int64) any {
	if x < int64(len(f.Classes)) {
		return f.Classes[x]
	}
	return x
}
