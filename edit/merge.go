package edit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
)

// Merged is the result of Merge.
type Merged struct {
	Samples []int `json:"samples"` // of each source
	// Twice counts samples that another source has too, with the same bytes and labels: they are
	// written once.
	Twice int `json:"twice"`
}

// Merge plans a dataset at path with the samples of several datasets, copied as they are stored.
// names are the sources' names for errors. Two sources may have the same key only if bytes, labels,
// split and columns are equal.
func Merge(sources []formats.Dataset, names []string, f formats.WritableFormat, path string, o convert.Options) (*convert.Plan, *Merged, error) {
	u, err := mergedUnion(sources, names)
	if err != nil {
		return nil, nil, err
	}
	m := &merger{union: u, names: names}
	if err := m.merge(); err != nil {
		return nil, nil, err
	}
	if err := m.mergeRemoved(); err != nil {
		return nil, nil, err
	}
	for i := range u.Len() {
		in, err := u.Info(i)
		if err != nil {
			return nil, nil, err
		}
		if err := formats.CheckSplit(in.Split); err != nil {
			return nil, nil, fmt.Errorf("%s: key %q: %w: rename the split first with dsconv relabel and a table of key and split",
				names[u.samples[i].source], in.Key, err)
		}
	}
	p, err := convert.New(context.Background(), u, f, path, o)
	if err != nil {
		return nil, nil, err
	}
	p.Meta.Recipe = mergedRecipe(u.meta.Recipe, p.Meta.Recipe)
	return p, &m.found, nil
}

// mergedRecipe returns the recipe of the merged dataset: the options that all sources were packed
// with, and those that decide the files of the new dataset.
func mergedRecipe(sources, files map[string]string) map[string]string {
	m := maps.Clone(sources)
	delete(m, "order")
	delete(m, "shards")
	for _, key := range []string{"order", "shards", "compress"} {
		if value, ok := files[key]; ok {
			m[key] = value
		}
	}
	if m["encode"] == "" {
		m["encode"] = "mixed" // no single recipe: add then refuses to encode images
	}
	m["source.format"] = "merge"
	return m
}

func mergedUnion(sources []formats.Dataset, names []string) (*union, error) {
	meta := *sources[0].Meta()
	meta.Recipe = recipeMap(&meta)
	var schemas []formats.Schema
	for _, ds := range sources[1:] {
		schemas = append(schemas, ds.Meta().Schema)
		meta.Columns = appendClasses(slices.Clone(meta.Columns), ds.Meta().Columns)
		theirs := recipeMap(ds.Meta())
		meta.Recipe = maps.Clone(meta.Recipe)
		maps.DeleteFunc(meta.Recipe, func(k, v string) bool { return theirs[k] != v })
	}
	var err error
	if meta.Schema, err = uniteSchemas(meta.Schema, schemas, func(i int) string { return names[i+1] }); err != nil {
		return nil, err
	}
	for _, s := range schemas {
		relaxShapes(meta.Schema, s)
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
func (m *merger) merge() error {
	u := m.union
	next := make([]int, len(u.sources))
	m.found.Samples = make([]int, len(u.sources))
	for {
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
		m.found.Samples[first]++
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
