package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// MergeOptions are the options of Merge. The zero value is usual.
type MergeOptions struct {
	Options
	// Paths are the sources' paths, which errors name; nil is source 1, source 2, ... Without them the recipe of the merged
	// dataset has no table of labels and no file of an order of classes whose paths are relative to a source.
	Paths []string
	// Replace replaces a dataset at dst that dsconv wrote.
	Replace bool
	// Zstd is the level by which tars are compressed, 1 to 22; 0 is none.
	Zstd int
	// Order is the order of samples in tars and TFRecords.
	Order convert.Order
	// ShardSize is about how many bytes a shard has, if dst is a pattern; 0 is 1 GB.
	ShardSize int64
}

// MergeReport is the result of Merge.
type MergeReport struct {
	Report
	Merged `json:"what"`
}

// Merged counts what Merge found.
type Merged struct {
	PerSource []int `json:"samples"` // of each source, without those that an earlier one has too
	// Twice counts samples that another source has too, with the same bytes and labels: they are
	// written once.
	Twice int `json:"twice"`
}

// Merge writes a dataset at dst, in the format of reg that its name tells, with the samples of several
// datasets. They are copied as they are stored, but for those of a folder of images, which get the bytes
// of their files. The sources must have the same fields; classes are merged by name. Two
// sources may have the same key only if bytes, labels, split and columns are equal, so that a dataset and
// itself are one. No sample is skipped: a bad one ends the run. The sources stay open. With an error of the run comes a report.
func Merge(ctx context.Context, reg formats.Registry, dst string, sources []formats.Dataset, o MergeOptions) (*MergeReport, error) {
	if err := o.check(ctx, dst, sources); err != nil {
		return nil, err
	}
	f, err := reg.Writable().ByPath(dst)
	if err != nil {
		var known error
		if f, known = reg.ByPath(dst); known != nil {
			return nil, err
		}
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return nil, fmt.Errorf("%s: a %s cannot be written by a merge: give a name such as data.lmdb or data.tar", dst, f.Name())
	}
	m := &merger{names: slices.Clone(o.Paths), paths: o.Paths}
	for i := len(m.names); i < len(sources); i++ {
		m.names = append(m.names, fmt.Sprintf("source %d", i+1))
	}
	p, err := m.plan(ctx, sources, w, dst, o.converting())
	if err != nil {
		return nil, err
	}
	r, err := finish(ctx, p, w, dst, 0, &o.Options)
	return &MergeReport{Report: *r, Merged: m.found}, err
}

func (o *MergeOptions) check(ctx context.Context, dst string, sources []formats.Dataset) error {
	if len(sources) == 0 {
		return errors.New("edit.Merge: there are no sources: give at least one dataset")
	}
	if o.Paths != nil && len(o.Paths) != len(sources) {
		return fmt.Errorf("edit.Merge: Paths has %d paths for %d sources: give one for each, or nil", len(o.Paths), len(sources))
	}
	return cmp.Or(notNegative("edit.Merge", "Zstd", int64(o.Zstd)), notNegative("edit.Merge", "ShardSize", o.ShardSize),
		o.Options.check(ctx, "edit.Merge", dst))
}

func (o *MergeOptions) converting() convert.Options {
	c := o.Options.converting()
	c.GPU = nil              // nothing is decoded
	c.OnError = convert.Fail // no sample may be lost by merging
	c.Order, c.Shards.Size = o.Order, o.ShardSize
	c.Create.Replace, c.Create.Zstd = o.Replace, o.Zstd
	return c
}

// plan plans the merged dataset.
func (m *merger) plan(ctx context.Context, sources []formats.Dataset, f formats.WritableFormat, dst string, o convert.Options) (*convert.Plan, error) {
	u, err := m.unite(sources)
	if err != nil {
		return nil, err
	}
	m.union = u
	if err := m.merge(ctx); err != nil {
		return nil, err
	}
	if err := m.mergeRemoved(); err != nil {
		return nil, err
	}
	if err := m.checkSamples(); err != nil {
		return nil, err
	}
	p, err := convert.New(ctx, u, f, dst, o)
	if err != nil {
		return nil, err
	}
	p.Meta.Recipe = recipepath.Relative(mergedRecipe(u.meta.Recipe, p.Meta.Recipe), dst)
	return p, nil
}

// checkSamples returns an error if a sample's split is a name that cannot be written.
func (m *merger) checkSamples() error {
	u := m.union
	for i := range u.Len() {
		in, err := u.Info(i)
		if err != nil {
			return err
		}
		if err := formats.CheckSplit(in.Split); err != nil {
			return fmt.Errorf("%s: key %q: %w: rename the split first with dsconv relabel and a table of key and split",
				m.names[u.samples[i].source], in.Key, err)
		}
	}
	return nil
}

// mergedRecipe returns the recipe of the merged dataset: the options that all sources were packed
// with, and those that decide the files of the new dataset.
func mergedRecipe(sources, files map[string]string) map[string]string {
	m := map[string]string{} // a dataset of somebody's own may have no recipe
	maps.Copy(m, sources)
	delete(m, "order")
	delete(m, "shards")
	for _, key := range []string{"order", "shards", "compress"} {
		if value, ok := files[key]; ok {
			m[key] = value
		}
	}
	if m["encode"] == "" {
		m["encode"] = mixed // no single recipe: add then refuses to encode images
	}
	m["source.format"] = "merge"
	return m
}

func (m *merger) unite(sources []formats.Dataset) (*union, error) {
	meta := *sources[0].Meta()
	recipes := []map[string]string{m.recipe(0, &meta)}
	meta.Recipe = map[string]string{} // a dataset of somebody's own may have none
	maps.Copy(meta.Recipe, recipes[0])
	var schemas []formats.Schema
	for i, ds := range sources[1:] {
		schemas = append(schemas, ds.Meta().Schema)
		meta.Columns = appendClasses(slices.Clone(meta.Columns), ds.Meta().Columns)
		theirs := m.recipe(i+1, ds.Meta())
		recipes = append(recipes, theirs)
		maps.DeleteFunc(meta.Recipe, func(k, v string) bool { return theirs[k] != v })
	}
	mixDecoders(meta.Recipe, recipes)
	var err error
	if meta.Schema, err = uniteSchemas(meta.Schema, schemas, func(i int) string { return m.names[i+1] }); err != nil {
		return nil, err
	}
	for _, s := range schemas {
		relaxShapes(meta.Schema, s)
	}
	if meta.Renamed, err = mergedRenames(sources, m.names); err != nil {
		return nil, err
	}
	meta.Format = "merge"
	u := &union{meta: meta}
	origins := 0 // each source is a separate collection, or several
	for _, ds := range sources {
		u.sources = append(u.sources, newUnionSource(ds, ds.Meta().Format != "folder", &meta))
		last := &u.sources[len(u.sources)-1]
		first := origins
		last.origin = func(own uint16) uint16 { return uint16(min(first+int(own), math.MaxUint16)) }
		origins++
		if h := ds.Meta().History; h != nil {
			origins += h.Origins
		}
	}
	return u, nil
}

// recipe returns the recipe of source i's images, with absolute paths.
func (m *merger) recipe(i int, meta *formats.Meta) map[string]string {
	recipe := recipeMap(meta)
	if m.paths != nil {
		return recipepath.Resolve(recipe, m.paths[i])
	}
	return recipepath.WithoutRelative(recipe)
}

// recipeMap returns the recipe of a dataset's images. The images of a folder are copied. In shards
// compress applies to the files, not to the images.
func recipeMap(m *formats.Meta) map[string]string {
	switch m.Format {
	case "folder":
		return map[string]string{"encode": "keep"}
	case "shard":
		r := maps.Clone(m.Recipe)
		delete(r, "compress")
		return r
	}
	return m.Recipe
}

type merger struct {
	union *union
	names []string
	paths []string // of the sources; nil if they are unknown
	found Merged
}

// mergeRemoved merges the sources' lists of samples removed by hand, without samples that another
// source has.
func (m *merger) mergeRemoved() error {
	u := m.union
	for k := range u.sources {
		removed, err := formats.RemovedFrom(u.sources[k].Dataset)
		if err != nil {
			return fmt.Errorf("%s: %w", m.names[k], err)
		}
		u.removed = append(u.removed, removed...)
	}
	if len(u.removed) > 0 {
		u.removed = slices.DeleteFunc(sortRemoved(u.removed), func(r formats.RemovedSample) bool {
			_, err := formats.Find(u, r.Key)
			return err == nil
		})
	}
	return u.countEdits()
}

// merge puts the samples of all sources into key order.
func (m *merger) merge(ctx context.Context) error {
	u := m.union
	next := make([]int, len(u.sources))
	m.found.PerSource = make([]int, len(u.sources))
	all := 0
	for k := range u.sources {
		all += u.sources[k].Len()
	}
	u.samples = make([]unionSample, 0, all)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, key := -1, ""
		for k := range u.sources {
			in, ok, err := infoAt(&u.sources[k], next[k])
			if err != nil {
				return err
			}
			if ok && (first < 0 || in.Key < key) {
				first, key = k, in.Key
			}
		}
		if first < 0 {
			return nil
		}
		u.samples = append(u.samples, unionSample{source: int32(first), index: int32(next[first])})
		m.found.PerSource[first]++
		next[first]++
		for k := range u.sources {
			in, ok, err := infoAt(&u.sources[k], next[k])
			if err != nil {
				return err
			}
			if !ok || in.Key != key {
				continue
			}
			if err := m.checkEqual(key, first, k, next[k]); err != nil {
				return err
			}
			m.found.Twice++
			next[k]++
		}
	}
}

// checkEqual returns an error if sample i of source k, which has the key of the last sample, differs from it.
func (m *merger) checkEqual(key string, first, k, i int) error {
	u := m.union
	last := u.samples[len(u.samples)-1]
	two := &union{meta: u.meta, sources: u.sources, samples: []unionSample{last, {source: int32(k), index: int32(i)}}}
	var s [2]formats.Sample
	for j := range s {
		if err := two.Read(j, &s[j]); err != nil {
			return err
		}
	}
	same := s[0].Split == s[1].Split && slices.Equal(s[0].Columns, s[1].Columns)
	for f := range s[0].Values {
		same = same && string(s[0].Values[f].Data) == string(s[1].Values[f].Data)
	}
	if edited := s[0].Provenance.Edited | s[1].Provenance.Edited; edited != s[0].Provenance.Edited {
		u.samples[len(u.samples)-1].change = &change{mark: &formats.Provenance{Edited: edited, Origin: s[0].Provenance.Origin}}
	}
	if !same {
		return fmt.Errorf("%w: %s and %s both have the key %q, with different bytes or labels: remove one of them first (dsconv rm)", formats.ErrKey, m.names[first], m.names[k], key)
	}
	return nil
}
