package shards

import (
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
)

// Options are the options of a pack, as a plan has them: those that decide the bytes, and what becomes of bad images.
type Options struct {
	Recipe     preprocess.Recipe `json:"recipe"`
	Split      convert.Splitter  `json:"split,omitempty"`
	Only       []string          `json:"only,omitempty"`
	Order      convert.Order     `json:"order,omitempty"`
	Shards     convert.Sharding  `json:"shards,omitzero"`
	Zstd       int               `json:"zstd,omitempty"`
	Replace    bool              `json:"replace,omitempty"`
	KeepOld    bool              `json:"keep_old,omitempty"`
	Limit      int               `json:"limit,omitempty"`
	Sample     int               `json:"sample,omitempty"`
	SampleSeed uint64            `json:"sample_seed,omitempty"`
	OnError    convert.OnError   `json:"on_error,omitempty"`
	Quarantine string            `json:"quarantine,omitempty"`
	MaxSkipped string            `json:"max_skipped,omitempty"`
	Stats      bool              `json:"stats,omitempty"`
	Report     string            `json:"report,omitempty"` // the table of what was skipped

	// Destination is what was asked for: the dataset, or a folder for one of each split in the Format.
	Destination string `json:"destination"`
	Format      string `json:"format,omitempty"`

	Read    formats.ReadOptions `json:"read,omitzero"`
	Folder  FolderOptions       `json:"folder,omitzero"`
	Augment AugmentOptions      `json:"augment,omitzero"`
}

// FolderOptions are those of folder.Config.
type FolderOptions struct {
	Labels       string            `json:"labels,omitempty"`
	FolderLabels map[string]string `json:"folder_labels,omitempty"`
	Unlisted     string            `json:"unlisted,omitempty"`
	LabelColumns []string          `json:"label_columns,omitempty"`
	LabelSep     string            `json:"label_sep,omitempty"`
	LabelType    string            `json:"label_type,omitempty"`
	ClassOrder   string            `json:"class_order,omitempty"`
	Patterns     formats.Patterns  `json:"patterns,omitzero"`
	Fields       []string          `json:"fields,omitempty"`
	Boxes        []string          `json:"boxes,omitempty"`
	Captions     []string          `json:"captions,omitempty"`
	Like         formats.Schema    `json:"like,omitempty"`
}

// AugmentOptions say which copies are written.
type AugmentOptions struct {
	Ops    augment.Ops `json:"ops,omitempty"`
	Copies int         `json:"copies,omitempty"`
	Seed   uint64      `json:"seed,omitempty"`
	Only   bool        `json:"only,omitempty"`
}

// OfPack returns the options of a conversion. Folder, Read, Augment, Report and Format are left to the caller.
func OfPack(o *convert.Options) Options {
	return Options{
		Recipe: o.Recipe, Split: o.Split, Only: o.Only, Order: o.Order, Shards: o.Shards, Zstd: o.Create.Zstd,
		Replace: o.Create.Replace, KeepOld: o.KeepOld, Limit: o.Limit, Sample: o.Sample, SampleSeed: o.SampleSeed,
		OnError: o.OnError, Quarantine: absolute(o.Quarantine), MaxSkipped: o.MaxSkipped, Stats: o.Stats,
	}
}

// Convert returns the options of the conversion.
func (o *Options) Convert() convert.Options {
	return convert.Options{
		Recipe: o.Recipe, Split: o.Split, Only: o.Only, Order: o.Order, Shards: o.Shards, Patterns: o.Folder.Patterns,
		Create:  formats.CreateOptions{Zstd: o.Zstd, Replace: o.Replace},
		KeepOld: o.KeepOld, Limit: o.Limit, Sample: o.Sample, SampleSeed: o.SampleSeed,
		OnError: o.OnError, Quarantine: o.Quarantine, MaxSkipped: o.MaxSkipped, Stats: o.Stats,
	}
}

// OfFolder returns the options of c, with absolute paths: the processes of the shards have other current folders.
func OfFolder(c *folder.Config) FolderOptions {
	o := FolderOptions{
		Labels: absolute(c.Labels), Unlisted: c.Unlisted, LabelColumns: c.LabelColumns, LabelSep: c.LabelSep, LabelType: c.LabelType,
		ClassOrder: c.ClassOrder, Patterns: c.Patterns, Fields: c.Fields, Boxes: annotations(c.Boxes), Captions: annotations(c.Captions), Like: c.Like,
	}
	if o.ClassOrder != "natural" {
		o.ClassOrder = absolute(o.ClassOrder)
	}
	for name, file := range c.FolderLabels {
		if o.FolderLabels == nil {
			o.FolderLabels = map[string]string{}
		}
		o.FolderLabels[name] = absolute(file)
	}
	return o
}

// Config returns the options of the folder.
func (o *FolderOptions) Config() folder.Config {
	return folder.Config{
		Labels: o.Labels, FolderLabels: o.FolderLabels, Unlisted: o.Unlisted, LabelColumns: o.LabelColumns, LabelSep: o.LabelSep,
		LabelType: o.LabelType, ClassOrder: o.ClassOrder, Patterns: o.Patterns, Fields: o.Fields, Boxes: o.Boxes, Captions: o.Captions, Like: o.Like,
	}
}

// annotations makes the paths of COCO's files absolute. A pattern is relative to the source.
func annotations(values []string) (list []string) {
	for _, value := range values {
		name, file := recipepath.ForFolder(value)
		switch {
		case strings.Contains(file, "{"):
			list = append(list, value)
		case name != "":
			list = append(list, name+"="+absolute(file))
		default:
			list = append(list, absolute(file))
		}
	}
	return list
}

// absolute returns the absolute path, "" for none.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
