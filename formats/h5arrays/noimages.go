package h5arrays

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/h5file"
)

// errNoImages says what the file has instead of images in one array, and what to do.
func (f *finder) errNoImages(names []string) error {
	list := func(names []string) string { return strings.Join(names[:min(len(names), 30)], ", ") }
	if links := f.file.Links; len(links) > 0 {
		return fmt.Errorf("%w: it has links (%s), which are not followed, beside %q: name the array in this file that one leads to: --map image=/PATH,label=/PATH; "+
			"arrays of another file must be copied here first", formats.ErrSchema, list(links), list(names))
	}
	for _, name := range names {
		members, ok, err := f.file.Members(name)
		if err == nil && ok && len(members) > 0 && f.isImage(name+"/"+members[0]) {
			return fmt.Errorf("%w: it has groups (%s) with an array for each image, such as %s/%s; images are read from one array of all: "+
				"write them as files into a folder for each class (h5py), and pack that", formats.ErrSchema, list(names), name, members[0])
		}
		if err == nil && !ok && f.isImage(name) {
			return fmt.Errorf("%w: it has an array for each image (%s); images are read from one array of all: write them as files into a folder for each class (h5py), and pack that",
				formats.ErrSchema, list(names))
		}
	}
	return fmt.Errorf("%w: no array is named like images; it has %s: name the array: --map image=/PATH", formats.ErrSchema, list(names))
}

// isImage reports whether an array has the pixels, or the file, of a single image.
func (f *finder) isImage(path string) bool {
	d, ok, err := f.file.Dataset(path)
	if err != nil || !ok {
		return false
	}
	switch n := len(d.Dims); {
	case d.Type.Class != h5file.Unsigned || d.Rows() == 0:
		return false
	case n == 1 && d.Type.Size == 1:
		row, err := d.Row(0)
		return err == nil && (row[0] == 0xff || row[0] == 0x89) // JPEG, PNG
	case n == 3:
		return isChannels(d.Dims[2])
	}
	return false
}
