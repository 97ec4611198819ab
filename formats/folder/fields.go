package folder

import (
	"cmp"
	"fmt"

	"github.com/dsconv/dsconv/formats/folder/internal/annotations"
	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// FieldsNone is the value of Config.Fields with which each image is a sample of its own.
const FieldsNone = fields.None

// FieldSummary says what was found for a field of Config.Fields, Boxes or Captions.
type FieldSummary = annotations.Summary

// Options returns what the Config says about fields.
func (c *Config) fieldOptions() *fields.Options {
	return &fields.Options{Fields: c.Fields, Boxes: c.Boxes, Captions: c.Captions, Memory: cmp.Or(c.Memory, defaultMemory)}
}

// CheckFields returns an error if Fields or Boxes are written wrongly. It looks at no file.
func (c Config) CheckFields() error { return c.fieldOptions().Check() }

// newFields returns the fields of the Config, nil if it has none.
func newFields(in vfs.FS, cfg *Config) (*fields.Set, error) {
	o := cfg.fieldOptions()
	if o.Any() && IsDescription(cfg.Labels) {
		return nil, fmt.Errorf("%s already describes the fields: leave out --field, --boxes and --captions", cfg.Labels)
	}
	return fields.New(in, o)
}

// Fields says what was found for the fields of Config.Fields, Boxes and Captions.
func (d *Dataset) Fields() []FieldSummary {
	if d.fields == nil {
		return nil
	}
	return d.fields.Summaries()
}

// FieldFile returns the path of the file that is the value of field k of sample i, "" if there is none: for images, labels,
// boxes and captions, and if the file is missing.
func (d *Dataset) FieldFile(i, k int) (path string) {
	if d.fields == nil || k < d.firstField {
		return ""
	}
	it, err := d.sample(i)
	if err != nil {
		return ""
	}
	one, ok := d.fields.File(&it.File, k-d.firstField)
	if !ok {
		return ""
	}
	return one.Path
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
	if l.layout, err = d.fields.UseLayout(l.layout, order); err != nil {
		return err
	}
	l.layout.Names = likeNames(l.layout.Names, cfg)
	l.index = labels.IndexOf(l.layout.Names)
	d.firstField = len(l.schema()) // only now is it known whether there is a label
	return nil
}

// recordAnnotations records which folders the files of annotations are for, so that adding reads them likewise,
// whatever images there are then.
func (d *Dataset) recordAnnotations(cfg *Config) {
	if d.fields == nil {
		return
	}
	boxes, captions := d.fields.Annotated()
	if boxes != nil {
		cfg.Boxes = boxes
	}
	if captions != nil {
		cfg.Captions = captions
	}
	d.meta.Recipe = recipepath.Replace(cfg.recipe(), d.in.Recorded)
}

// Warning returns what was found to be doubtful when the sample of the image at a path, its Source.Path, was read:
// annotations for an image of another size. It is "" for others.
func (d *Dataset) Warning(path string) string { return d.fields.Warning(path) }
