package convert

import (
	"strings"
)

// filed is a source in which fields of samples are files of their own: folder.Dataset.
type filed interface {
	FieldFile(i, k int) (path string, read func() ([]byte, error))
}

// nameFile adds the file to what is said of a field of the sample at a position, "field mask: it is damaged", unless it is
// the image, whose path is named already.
func (r *run) nameFile(pos int, said string) string {
	src, ok := r.src.(filed)
	rest, of := strings.CutPrefix(said, "field ")
	name, rest, cut := strings.Cut(rest, ": ")
	if !ok || !of || !cut {
		return said
	}
	k := r.src.Meta().Schema.Index(name)
	if k < 0 {
		return said
	}
	path, _ := src.FieldFile(r.order.at(pos), k)
	if path == "" || strings.Contains(rest, path) {
		return said
	}
	return "field " + name + ": " + path + ": " + rest
}

// quarantineFields copies the files of the fields of a sample, of which one may be at fault.
func (r *run) quarantineFields(pos int) error {
	src, ok := r.src.(filed)
	if !ok {
		return nil
	}
	for k := range r.src.Meta().Schema {
		path, read := src.FieldFile(r.order.at(pos), k)
		if path == "" {
			continue
		}
		data, err := read()
		if err != nil {
			continue // there is nothing to copy
		}
		if err := r.copyAside(path, data); err != nil {
			return err
		}
	}
	return nil
}
