package folder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Headers that people give to the column of paths and to that of labels, as plainHeader writes them. A header of
// the second list counts only if there is none of the first.
var (
	pathHeaders = [2][]string{
		{"path", "filename", "filepath", "file", "fname", "image", "imagepath", "imagename", "imagefile", "img", "imgpath", "imgname"},
		{"imageid", "imgid", "fileid"},
	}
	labelHeaders = [2][]string{
		{"label", "class", "classname", "labelname", "target", "category", "categoryname"},
		{"classid", "labelid", "targetid", "categoryid"},
	}
)

// plainHeader returns a header in lower case, without spaces and underscores.
func plainHeader(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// columnRoles are the columns of a table that have the paths and the labels.
type columnRoles struct {
	path   string
	labels []string
	// field is the name of the field of the only label column; "" is the column's own.
	field string
}

// roles finds the columns of paths and labels: those of Config.LabelColumns, else by their headers.
func (s *sheet) roles(labelColumns []string) (columnRoles, error) {
	var r columnRoles
	for _, entry := range labelColumns {
		role, column, ok := strings.Cut(entry, "=")
		if slices.Contains(s.header, entry) {
			ok = false // the name of a column, which has a =
		}
		switch {
		case s.known != "" && ok:
			continue // the columns of a known file are known
		case ok && role == "path" && r.path == "":
			r.path = column
		case ok && role == "label" && len(r.labels) == 0:
			r.labels, r.field = []string{column}, "label"
		case ok:
			return r, fmt.Errorf("label columns %s: give path=COLUMN and label=COLUMN once each, or names of columns", strings.Join(labelColumns, ","))
		case r.field != "":
			return r, fmt.Errorf("label columns %s: give label=COLUMN, or several names, not both", strings.Join(labelColumns, ","))
		default:
			r.labels = append(r.labels, entry)
		}
	}
	var err error
	if r.path == "" {
		r.path, err = s.pathColumn()
	}
	if err == nil && len(r.labels) == 0 {
		err = s.findLabel(&r)
	}
	if r.field != "" && slices.Contains(s.header, r.field) {
		r.field = ""
	}
	return r, err
}

// pathColumn finds the column of paths by its header.
func (s *sheet) pathColumn() (string, error) {
	for _, name := range []string{"path", "file_name"} {
		if slices.Contains(s.header, name) {
			return name, nil
		}
	}
	name, err := s.columnNamed(pathHeaders, "paths", "path")
	if err == nil && name == "" {
		err = fmt.Errorf("no column \"path\" or \"file_name\" among %s; if another one has the paths, name it: --label-columns path=COLUMN,label=COLUMN", listNames(s.header))
	}
	return name, err
}

// findLabel finds the column of labels by its header. A table may have none.
func (s *sheet) findLabel(r *columnRoles) error {
	if slices.Contains(s.header, "label") {
		r.labels = []string{"label"}
		return nil
	}
	others := sheet{header: slices.DeleteFunc(slices.Clone(s.header), func(name string) bool { return name == r.path })}
	name, err := others.columnNamed(labelHeaders, "labels", "label")
	if name != "" {
		r.labels, r.field = []string{name}, "label"
	}
	return err
}

// columnNamed returns the only column with one of the headers, "" for none.
func (s *sheet) columnNamed(headers [2][]string, what, role string) (string, error) {
	for _, list := range headers {
		var found []string
		for _, name := range s.header {
			if slices.Contains(list, plainHeader(name)) {
				found = append(found, name)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return "", fmt.Errorf("the columns %s may all have the %s: choose one with --label-columns %s=%s", listNames(found), what, role, found[0])
		}
	}
	return "", nil
}

// position returns the position of the column of paths; the error lists the existing columns.
func (s *sheet) position(r *columnRoles) (int, error) {
	at := slices.Index(s.header, r.path)
	switch {
	case at < 0:
		return 0, fmt.Errorf("no column %q among %s", r.path, listNames(s.header))
	case len(s.rows) == 0:
		return 0, errors.New("it has a header and no rows")
	case slices.Contains(r.labels, r.path):
		return 0, fmt.Errorf("the column %q has the paths: it cannot have the labels too", r.path)
	}
	if line, ok := s.nested[r.path]; ok {
		return 0, fmt.Errorf("line %d: %s is a list or an object, but must be a text", line, r.path)
	}
	return at, unique(s.header)
}
