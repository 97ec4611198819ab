package folder

import (
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Config says which images of a folder are taken and what their labels are. The zero
// value is what ImageFolder does.
type Config struct {
	// Labels is a table (.csv, .tsv, .jsonl) with a column "path" or "file_name", relative
	// to the folder, and a column "label", or those of LabelColumns. All further columns
	// are kept for each sample.
	Labels string
	// LabelColumns names several label columns; the first is the designated label.
	LabelColumns []string
	// LabelSep splits a cell into several labels of one image; the label field is then
	// multi-hot.
	LabelSep string
	// ClassOrder is "" for ImageFolder's, "natural" for 2 before 10, or a file with one
	// class name a line.
	ClassOrder string
	// Take chooses files by their path relative to the folder.
	Take formats.Patterns
}

// recipe is what of the Config decides the dataset, for Meta.Recipe.
func (c *Config) recipe() map[string]string {
	m := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	set("labels", c.Labels)
	set("label-columns", strings.Join(c.LabelColumns, ","))
	set("label-sep", c.LabelSep)
	set("class-order", c.ClassOrder)
	return m
}
