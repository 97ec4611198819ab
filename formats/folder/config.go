package folder

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// Config selects the images of a folder and their labels. The zero value behaves like
// ImageFolder.
type Config struct {
	// Labels is a table (.csv, .tsv, .jsonl, .json, .txt, .parquet) with a column "path" or "file_name", relative
	// to the folder, and a column "label", or those of LabelColumns; other usual headers are known too. All
	// other columns become user columns of the samples. ImageNet's own files of labels are read as well.
	Labels string
	// FolderLabels are tables for folders of the source, by their relative paths: {"val": "val.csv"}. Their
	// paths are relative to that folder or to the source. Images elsewhere have the labels of their folders.
	FolderLabels map[string]string
	// LabelColumns names several label columns; the first is the designated label. path=COLUMN and
	// label=COLUMN name the column of paths and the only one of labels.
	LabelColumns []string
	// LabelSep splits a cell into several labels of one image; the label field is then
	// multi-hot.
	LabelSep string
	// LabelType is the type of the label columns: "index", "name" or "float", for all columns
	// or by column, "age=float,class=name". "" leaves it to the rules of package labels.
	LabelType string
	// Like is the schema of the dataset that the images are added to: labels are read like that
	// dataset's own. Nil for a new one.
	Like formats.Schema
	// ClassOrder is "" for ImageFolder's order, "natural" for 2 before 10, or a file with one
	// class name per line.
	ClassOrder string
	// Patterns select files by their path relative to the folder.
	Patterns formats.Patterns
	// Fields are the fields of samples besides the image and the labels, NAME=PATTERN[,kind=KIND], such as
	// "mask=masks/{key}.png" and "caption={key}.txt"; the pattern of the field image says which files are the
	// samples' images. FieldsNone alone says that each image is a sample of its own. See docs/fields.md.
	Fields []string
	// Boxes are annotations of objects: files of COCO, or a pattern of YOLO's .txt or Pascal VOC's .xml files. A file of
	// COCO may be for the images in one folder: "train=instances.json". One that has a "=" in its path is written "./a=b.json".
	Boxes []string
	// Captions are files of COCO with captions, or tables with columns image and caption; for one folder too.
	Captions []string
	// Memory is about how many bytes listing may take, 0 means 512 MiB; a table of labels is in memory
	// besides. What does not fit goes to temporary files in os.TempDir(), which have no names: nothing is
	// left behind.
	Memory int64 `json:"-"`

	// Stdin is what OpenList reads for "-".
	Stdin io.Reader `json:"-"`

	list *tables.Labels // the images, of a list
}

// defaultMemory is what listing a folder may take if Config.Memory is 0. For a hundred
// thousand files no temporary file is written.
const defaultMemory = 512 << 20

// recipe returns the entries of Meta.Recipe for the Config.
func (c *Config) recipe() map[string]string {
	m := map[string]string{
		"labels":        c.Labels,
		"label-columns": strings.Join(c.LabelColumns, ","),
		"label-sep":     c.LabelSep,
		"label-type":    c.LabelType,
		"class-order":   c.ClassOrder,
		"field":         strings.Join(c.Fields, "\n"),
		"boxes":         strings.Join(c.Boxes, "\n"),
		"captions":      strings.Join(c.Captions, "\n"),
	}
	for folder, file := range c.FolderLabels {
		m[recipepath.FolderLabels+folder] = file
	}
	maps.DeleteFunc(m, func(_, value string) bool { return value == "" })
	return m
}

// FieldsNone is the value of Config.Fields with which each image is a sample of its own.
const FieldsNone = fields.None

// FieldSummary says what was found for a field of Config.Fields, Boxes or Captions.
type FieldSummary = fields.Summary

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
	if it, err := d.sample(i); err == nil {
		path = d.fields.File(&it.File, k-d.firstField)
	}
	return path
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
