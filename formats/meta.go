package formats

import (
	"maps"
	"slices"
)

// Version is the latest version of dsconv's files. A reader rejects a larger one.
// A dataset is written with the lowest version that keeps an older dsconv from harming it:
// see Meta.RequiredVersion.
const Version = 2

// Meta describes a dataset as a whole. It is the content of dataset.json, and is the same
// for two runs over the same source with the same recipe.
type Meta struct {
	Version int     `json:"version"`
	Format  string  `json:"format"`
	Schema  Schema  `json:"schema"`
	Splits  []Split `json:"splits,omitempty"`
	// Columns names the user's columns that the manifest has for every sample.
	Columns []string `json:"columns,omitempty"`
	// Recipe maps the options that the dataset was packed with to their values, only those
	// that change its bytes.
	Recipe map[string]string `json:"recipe,omitempty"`
	Count  int               `json:"count"`
	Stats  Stats             `json:"stats"`
	// PixelStats are statistics of the pixels, if the dataset was packed with them.
	PixelStats *PixelStats `json:"pixel_stats,omitempty"`
	// History counts the recorded edits; nil if there are none.
	History *History `json:"history,omitempty"`
	// Renamed maps classes of the source to those of the designated label, if they were renamed by hand: the
	// name in the source to the name in Schema. A class that is not in it has one name.
	Renamed map[string]string `json:"renamed_classes,omitempty"`
	// Files lists the data files in order, relative to the dataset, where it has several.
	Files []string `json:"files,omitempty"`
}

// Split is a named subset of a dataset, such as train or val.
type Split struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Stats summarizes the designated images.
type Stats struct {
	Bytes     int64 `json:"bytes"` // as stored
	MinHeight int   `json:"min_height"`
	MinWidth  int   `json:"min_width"`
	MaxHeight int   `json:"max_height"`
	MaxWidth  int   `json:"max_width"`
	// Uniform reports that all images have one shape and element type.
	Uniform bool `json:"uniform"`
}

// RequiredVersion is the version that the dataset must be written with: the first one that can
// edit it without losing anything. Version 2 added the records of edits and of renamed classes, and labels that are numbers.
func (m *Meta) RequiredVersion() int {
	numbers := slices.ContainsFunc(m.Schema, func(f Field) bool { return f.Kind == Number })
	if numbers || m.History != nil || len(m.Renamed) > 0 {
		return 2
	}
	return 1
}

// Classes returns the class names of the designated label; nil without one.
func (m *Meta) Classes() []string {
	if i := m.Schema.LabelIndex(); i >= 0 {
		return m.Schema[i].Classes
	}
	return nil
}

// SourceSchema returns Schema with the names that the classes of the designated label have in the source: see
// Renamed. If several classes of the source are one, it has the name of the first, in the order of names.
func (m *Meta) SourceSchema() Schema {
	if len(m.Renamed) == 0 || len(m.Classes()) == 0 {
		return m.Schema
	}
	sources := map[string][]string{} // by name in the dataset
	for _, from := range slices.Sorted(maps.Keys(m.Renamed)) {
		sources[m.Renamed[from]] = append(sources[m.Renamed[from]], from)
	}
	classes, taken := slices.Clone(m.Classes()), map[string]bool{}
	for i, name := range classes {
		if from := sources[name]; len(from) > 0 && !slices.Contains(from, name) {
			classes[i] = from[0]
		}
		if taken[classes[i]] {
			return m.Schema // a class was made by hand with the old name of another one
		}
		taken[classes[i]] = true
	}
	schema := slices.Clone(m.Schema)
	schema[m.Schema.LabelIndex()].Classes = classes
	return schema
}

// Provenance records the origin of a sample and which of its values were edited by hand, so that
// adding from the source again does not undo the edits.
type Provenance struct {
	// Edited has a bit for each value (split, label field, column) that was set by hand: see
	// EditedSplit, Meta.EditedField, Meta.EditedColumn.
	Edited uint16
	// Origin is the number of the collection that the sample came from; 0 is the one packed
	// first. Samples that are no longer in SRC can so be dropped without touching other collections.
	Origin uint16
}

// EditedSplit is the bit of Provenance.Edited for the split.
const EditedSplit uint16 = 1

// EditedField is the bit of Provenance.Edited for field k of the schema.
func (m *Meta) EditedField(k int) uint16 { return editedBit(1 + k) }

// EditedColumn is the bit of Provenance.Edited for column j of Meta.Columns.
func (m *Meta) EditedColumn(j int) uint16 { return editedBit(1 + len(m.Schema) + j) }

// editedBit is bit n, at most 15: all later values share the last bit.
func editedBit(n int) uint16 { return 1 << min(n, 15) }

// RemovedSample is a sample that was removed by hand.
type RemovedSample struct {
	Key    string
	Source Source
}

// History counts the edits that a dataset records.
type History struct {
	Edited  int `json:"edited"`  // samples of which a label, the split or a column was set by hand
	Removed int `json:"removed"` // samples that were removed by hand
	Origins int `json:"origins"` // collections that were added after the first
}

// Removals is a Dataset that records which samples were removed from it by hand. A wrapper that embeds a
// Dataset as this package's interface hides the method: what is written from it forgets the list, so
// that edit.Add adds those samples again. Give it a Removed of its own that returns RemovedFrom.
type Removals interface {
	// Removed lists them by key. The caller owns the slice.
	Removed() ([]RemovedSample, error)
}

// RemovalWriter is a Writer that records which samples were removed by hand.
type RemovalWriter interface {
	// SetRemoved is called before Commit with the list in the order of keys.
	SetRemoved(list []RemovedSample)
}

// RemovedFrom returns the samples that were removed from ds by hand.
func RemovedFrom(ds Dataset) ([]RemovedSample, error) {
	if r, ok := ds.(Removals); ok {
		return r.Removed()
	}
	return nil, nil
}
