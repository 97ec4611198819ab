package convert

import "strings"

// filed is a source in which fields of samples are files of their own: folder.Dataset.
type filed interface {
	FieldFile(i, k int) (path string)
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
	path := src.FieldFile(r.order.at(pos), k)
	if path == "" || strings.Contains(rest, path) {
		return said
	}
	return "field " + name + ": " + path + ": " + rest
}
