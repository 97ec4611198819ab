package dsconv

import (
	"fmt"
	"path"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// otherOrder says which images of class folders are in another order than in torchvision's ImageFolder, which sorts
// by class, folder and name; "" if none. Keys have no extension, and "/" is a character like others there: 1-2.jpg
// comes before 1.jpg, and the folder shirt-long before shirt.
func otherOrder(f *folder.Dataset) string {
	columns := f.LabelColumns()
	if len(columns) != 1 || columns[0].Column != "" {
		return ""
	}
	schema := f.Meta().Schema
	classes := schema[schema.LabelIndex()].Classes
	var last []string
	for i := range f.Len() {
		in, err := f.Info(i)
		if err != nil {
			return "" // the pack meets the error too, and tells it
		}
		if in.Label == formats.NoLabel {
			continue
		}
		dir, name := path.Split(in.Source.Path)
		place := []string{in.Split, classes[in.Label], dir, name}
		if slices.Compare(last, place) > 0 {
			return fmt.Sprintf("torchvision's ImageFolder has %s before %s, and this order is that of the keys: lists of indices that were saved for ImageFolder name other samples (in Python, Dataset.imagefolder_order maps them)",
				in.Source.Path, path.Join(last[2], last[3]))
		}
		last = place
	}
	return ""
}
