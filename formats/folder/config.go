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
	// LabelType says what the cells of the label columns are: "index", "name" or "float", for
	// all columns or by column, "age=float,class=name". "" is the rule of package labels.
	LabelType string
	// Like is the schema of the dataset that the images are added to: labels are read as that
	// dataset's own are. Nil for a new one.
	Like formats.Schema
	// ClassOrder is "" for ImageFolder's, "natural" for 2 before 10, or a file with one
	// class name a line.
	ClassOrder string
	// Take chooses files by their path relative to the folder.
	Patterns formats.Patterns
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
	set("label-type", c.LabelType)
	set("class-order", c.ClassOrder)
	return m
}
