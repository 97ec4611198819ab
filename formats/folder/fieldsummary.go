package folder

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// The values of Config.Fields that are no patterns.
const (
	// FieldsNone: each image is a sample of its own.
	FieldsNone = fieldsNone
	// FieldsAuto: the files that share an image's name up to its first dot are the sample's fields.
	FieldsAuto = fieldsAuto
)

// FieldSummary says what was found for a field of Config.Fields, Boxes or Captions.
type FieldSummary struct {
	Name string       `json:"name"`
	Kind formats.Kind `json:"kind"`
	From string       `json:"from"` // the pattern, or the file of annotations
	// Found counts the files or the entries for images, Missing the samples without one, and Unused the files and
	// entries that belong to no sample, of which Example is one.
	Found   int    `json:"found"`
	Missing int    `json:"missing,omitempty"`
	Unused  int    `json:"unused,omitempty"`
	Example string `json:"example,omitempty"`
	// Note says what else was found out, such as which classes the boxes have.
	Note string `json:"note,omitempty"`
}

// fieldOptions returns what the Config says about fields.
func (c *Config) fieldOptions() *fieldOptions {
	return &fieldOptions{fields: c.Fields, boxes: c.Boxes, captions: c.Captions, memory: cmp.Or(c.Memory, defaultMemory)}
}

// CheckFields returns an error if Fields or Boxes are written wrongly. It looks at no file.
func (c Config) CheckFields() error { return c.fieldOptions().check() }

// newFields returns the fields of the Config, nil if it has none.
func newFields(in filesystem, cfg *Config) (*fieldSet, error) {
	o := cfg.fieldOptions()
	if o.any() && IsDescription(cfg.Labels) {
		return nil, fmt.Errorf("%s already describes the fields: leave out --field, --boxes and --captions", cfg.Labels)
	}
	return newFieldSet(in, o)
}

// Fields says what was found for the fields of Config.Fields, Boxes and Captions.
func (d *Dataset) Fields() []FieldSummary {
	if d.fields == nil {
		return nil
	}
	var list []FieldSummary
	for _, s := range d.fields.summaries() {
		list = append(list, FieldSummary{
			Name: s.name, Kind: s.kind, From: s.from, Found: s.found, Missing: s.missing, Unused: s.unused, Example: s.example, Note: s.note,
		})
	}
	return list
}

// useFields sets the splits and classes that the patterns name.
func (d *Dataset) useFields(cfg *Config) (err error) {
	l, ok := d.source.(*labeler)
	if d.fields == nil || !ok {
		return nil
	}
	order := cfg.ClassOrder
	if cfg.Labels != "" {
		order = ""
	}
	d.firstField = len(l.schema())
	if l.layout, err = d.fields.useLayout(l.layout, order); err == nil {
		l.index = labels.IndexOf(l.layout.names)
	}
	return err
}
