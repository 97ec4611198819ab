package shards

import (
	"maps"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// Options are the options of a pack, as a plan has them: those that decide the bytes, and what becomes of bad images.
type Options struct {
	convert.Options
	Report string `json:"report,omitempty"` // the table of what was skipped

	// Destination is what was asked for: the dataset, or a folder for one of each split in the Format.
	Destination string `json:"destination"`
	Format      string `json:"format,omitempty"`

	Read   formats.ReadOptions `json:"read,omitzero"`
	Folder folder.Config       `json:"folder"`
}

// MakeAbsolute makes all paths absolute: the processes of the shards have other current folders.
func (o *Options) MakeAbsolute() {
	f := &o.Folder
	f.Labels, f.ClassOrder = absolute("labels", f.Labels), absolute("class-order", f.ClassOrder)
	f.Boxes, f.Captions = allAbsolute("boxes", f.Boxes), allAbsolute("captions", f.Captions)
	f.FolderLabels = maps.Clone(f.FolderLabels)
	for name, file := range f.FolderLabels {
		f.FolderLabels[name] = absolute(recipepath.FolderLabels+name, file)
	}
}

// absolute returns the value of the recipe's key with absolute paths.
func absolute(key, value string) string {
	return recipepath.Absolute(map[string]string{key: value})[key]
}

func allAbsolute(key string, values []string) (list []string) {
	for _, value := range values {
		list = append(list, absolute(key, value))
	}
	return list
}
