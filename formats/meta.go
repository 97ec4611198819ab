package formats

import "slices"

// Version is the latest version of what dsconv writes at rest. A reader refuses a larger one.
// A dataset is written with the lowest version that keeps an older dsconv from harming it:
// see Meta.RequiredVersion.
const Version = 2

// Meta describes a dataset as a whole. It is what dataset.json holds and has nothing in
// it that differs between two runs over the same source with the same recipe.
type Meta struct {
	Version int     `json:"version"`
	Format  string  `json:"format"`
	Schema  Schema  `json:"schema"`
	Splits  []Split `json:"splits,omitempty"`
	// Columns names the user's columns that the manifest keeps for every sample.
	Columns []string `json:"columns,omitempty"`
	// Recipe is how the dataset was made: option to value, only what decides the bytes.
	Recipe map[string]string `json:"recipe,omitempty"`
	Count  int               `json:"count"`
	Stats  Stats             `json:"stats"`
	// History sums up what is remembered of edits; nil if nothing is.
	History *History `json:"history,omitempty"`
	// Files lists the data files in order, relative to the dataset, where it has several.
	Files []string `json:"files,omitempty"`
}

// Split is one part of a dataset, such as train or val.
type Split struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Stats sums up the designated images.
type Stats struct {
	Bytes     int64 `json:"bytes"` // as stored
	MinHeight int   `json:"min_height"`
	MinWidth  int   `json:"min_width"`
	MaxHeight int   `json:"max_height"`
	MaxWidth  int   `json:"max_width"`
	// Uniform says that all images have one shape and element type.
	Uniform bool `json:"uniform"`
}

// Needs is the version that the dataset must be written with: the first one whose edits keep
// all that is in it. Version 2 came with what is remembered of edits, with labels that are
// numbers, and with patterns of folders, whose files an older add would take.
func (m *Meta) RequiredVersion() int {
	numbers := slices.ContainsFunc(m.Schema, func(f Field) bool { return f.Kind == Number })
	if numbers || m.History != nil || m.Recipe[PatternRuleKey] != "" {
		return 2
	}
	return 1
}

// Classes names the indices of the designated label; nil without one.
func (m *Meta) Classes() []string {
	if i := m.Schema.LabelIndex(); i >= 0 {
		return m.Schema[i].Classes
	}
	return nil
}
