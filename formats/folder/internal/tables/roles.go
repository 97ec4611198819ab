package tables

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Headers that people give to the column of paths and to that of labels, as plainHeader writes them. A header of
// a list counts only if there is none of the lists before.
var (
	pathHeaders = [][]string{
		{"path", "filename", "filepath", "file", "fname", "image", "imagepath", "imagename", "imagefile", "img", "imgpath", "imgname"},
		{"imageid", "imgid", "fileid"},
	}
	labelHeaders = [][]string{
		{"label", "class", "classname", "classlabel", "labelname", "target", "category", "categoryname"},
		{"labels", "classes", "targets", "categories"},
		{"classid", "labelid", "targetid", "categoryid"},
	}
)

// plainHeader returns a header in lower case, without spaces and underscores.
func plainHeader(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// Roles are the columns of a table that have the paths and the labels.
type Roles struct {
	path   string
	Labels []string
	// Field is the name of the field of the only label column, or of all if they are OneHot; "" is the column's own.
	Field string
	// OneHot: each of several label columns is a class, which a 1 sets.
	OneHot bool
	// Doubt says of several label columns of 0 and 1 alone how they become one label; "" for others.
	Doubt string
	// none: the user said that no column has labels.
	none bool
}

// roles finds the columns of paths and labels: those of Config.LabelColumns, else by their headers.
func (s *Sheet) roles(labelColumns []string) (Roles, error) {
	var r Roles
	for _, entry := range labelColumns {
		role, column, ok := strings.Cut(entry, "=")
		if slices.Contains(s.Header, entry) {
			ok = false // the name of a column, which has a =
		}
		switch {
		case s.known != "" && ok:
			continue // the columns of a known file are known
		case ok && role == "path" && r.path == "":
			r.path = column
		case ok && role == "label" && column == "" && !r.none && len(r.Labels) == 0:
			r.none = true
		case r.none:
			return r, fmt.Errorf("label columns %s: label= says that no column has labels, so name no other one", strings.Join(labelColumns, ","))
		case ok && role == "label" && (len(r.Labels) == 0 || column != "" && r.Field != "" && !slices.Contains(r.Labels, column)):
			r.OneHot = len(r.Labels) > 0
			r.Labels, r.Field = append(r.Labels, column), "label"
		case ok:
			return r, fmt.Errorf("label columns %s: give path=COLUMN and label=COLUMN once each, or names of columns", strings.Join(labelColumns, ","))
		case r.Field != "":
			return r, fmt.Errorf("label columns %s: give label=COLUMN, or several names, not both", strings.Join(labelColumns, ","))
		default:
			r.Labels = append(r.Labels, entry)
		}
	}
	var err error
	if r.path == "" {
		r.path, err = s.pathColumn()
	}
	if err == nil && len(r.Labels) == 0 && !r.none {
		err = s.findLabel(&r)
	}
	if err == nil && r.OneHot {
		return r, s.join(&r)
	}
	if err == nil && len(r.Labels) > 2 && s.all(r.Labels, isHot) {
		r.Doubt = fmt.Sprintf("the columns %s have 0 and 1 alone: if each is a class, give %s for one multi-hot label; if each is a label of its own, "+
			"give --label-type index (a training predicts the first unless it names others)", ListNames(r.Labels), joinAdvice(r.Labels))
	}
	if r.Field != "" && slices.Contains(s.Header, r.Field) {
		r.Field = ""
	}
	return r, err
}

// pathColumn finds the column of paths by its header.
func (s *Sheet) pathColumn() (string, error) {
	for _, name := range []string{"path", "file_name"} {
		if slices.Contains(s.Header, name) {
			return name, nil
		}
	}
	name, err := s.columnNamed(pathHeaders, "paths", "path")
	if err == nil && name == "" {
		if err = s.noHeader(); err != nil {
			return "", err
		}
		err = fmt.Errorf("no column \"path\" or \"file_name\" among %s; if another one has the paths, name it: --label-columns path=COLUMN,label=COLUMN", ListOrNone(s.Header))
	}
	return name, err
}

// noHeader returns an error if the header looks like the first row, or like one column although it has several.
func (s *Sheet) noHeader() error {
	if s.comma == 0 {
		return nil
	}
	if i := slices.IndexFunc(s.Header, vfs.HasImageName); i >= 0 {
		columns := strings.Trim(strconv.Quote(strings.Join(lineColumns(len(s.Header)), string(s.comma))), `"`)
		return fmt.Errorf("its first line, with %s, looks like data, but must have the names of the columns: add such a line before it, for instance by: sed -i '1i %s' FILE", ListNames(s.Header[i:i+1]), columns)
	}
	if len(s.Header) == 1 {
		return fmt.Errorf("no column \"path\" or \"file_name\": it has one column, %s. If it has several, separate them by commas", ListNames(s.Header))
	}
	return nil
}

// findLabel finds the column of labels by its header. A table may have none.
func (s *Sheet) findLabel(r *Roles) error {
	if others := s.others(r); s.text && len(others) > 1 && s.all(others, isNumber) {
		return fmt.Errorf("its lines have %d numbers after the path: say which are labels. --label-columns label=label takes the first alone; "+
			"%s makes a multi-hot label of columns of 0 and 1", len(others), joinAdvice(others))
	}
	if slices.Contains(s.Header, "label") {
		r.Labels = []string{"label"}
		return nil
	}
	others := Sheet{Header: s.others(r)}
	name, err := others.columnNamed(labelHeaders, "labels", "label")
	if name != "" {
		r.Labels, r.Field = []string{name}, "label"
	}
	return err
}

// others are the columns besides the one of the paths.
func (s *Sheet) others(r *Roles) []string {
	return slices.DeleteFunc(slices.Clone(s.Header), func(name string) bool { return name == r.path })
}

// missingLabels returns an error if the table has other columns than that of the paths, but none was taken for the
// labels: then most likely one has them.
func (s *Sheet) missingLabels(r *Roles) error {
	others := s.others(r)
	if len(r.Labels) > 0 || r.none || len(others) == 0 {
		return nil
	}
	if len(others) > 1 && s.all(others, isHot) {
		return fmt.Errorf("no column of labels among %s, which have 0 and 1 alone: if each is a class, give %s for a multi-hot label",
			ListNames(others), joinAdvice(others))
	}
	return fmt.Errorf("no column of labels among %s: name it with --label-columns label=COLUMN; --label-columns label= says that none has labels, and images have the class of their folder", ListNames(others))
}

// columnNamed returns the only column with one of the headers, "" for none.
func (s *Sheet) columnNamed(headers [][]string, what, role string) (string, error) {
	for _, list := range headers {
		var found []string
		for _, name := range s.Header {
			if slices.Contains(list, plainHeader(name)) {
				found = append(found, name)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return "", fmt.Errorf("the columns %s may all have the %s: choose one with --label-columns %s=%s", ListNames(found), what, role, found[0])
		}
	}
	return "", nil
}

// position returns the position of the column of paths; the error lists the existing columns.
func (s *Sheet) position(r *Roles) (int, error) {
	at := slices.Index(s.Header, r.path)
	switch {
	case at < 0:
		return 0, fmt.Errorf("no column %q among %s", r.path, ListNames(s.Header))
	case len(s.Rows) == 0:
		return 0, errors.New("it has a header and no rows")
	case slices.Contains(r.Labels, r.path):
		return 0, fmt.Errorf("the column %q has the paths: it cannot have the labels too", r.path)
	}
	if line, ok := s.nested[r.path]; ok {
		return 0, fmt.Errorf("line %d: %s is a list or an object, but must be a text", line, r.path)
	}
	return at, Unique(s.Header)
}

// HotSeparator is between the classes of a cell that join made. No name has it.
const HotSeparator = "\x1f"

// joinAdvice is the flag that makes one label of the columns.
func joinAdvice(columns []string) string {
	return "--label-columns label=" + strings.Join(columns, ",label=")
}

// isSet reports what a cell says of the class that its column is; ok is false if that is not 0 or 1.
func isSet(cell string) (set, ok bool) {
	cell = strings.TrimSpace(cell)
	if x, err := strconv.ParseFloat(cell, 64); err == nil {
		return x == 1, x == 0 || x == 1
	}
	set, err := strconv.ParseBool(cell)
	return set, cell == "" || err == nil
}

func isHot(cell string) bool { _, ok := isSet(cell); return ok }

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return err == nil
}

// all reports whether all cells of the columns are such.
func (s *Sheet) all(columns []string, such func(cell string) bool) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		at := slices.Index(s.Header, name)
		return at < 0 || slices.ContainsFunc(s.Rows, func(row []string) bool { return !such(row[at]) })
	})
}

// join makes the label columns, each of which is a class, one column at the end: its cells list the classes that are set.
func (s *Sheet) join(r *Roles) error {
	classes := map[int]string{}
	for _, name := range r.Labels {
		at := slices.Index(s.Header, name)
		if at < 0 {
			return fmt.Errorf("no column %q among %s", name, ListNames(s.Header))
		}
		classes[at] = name
	}
	for i, row := range s.Rows {
		var left, set []string
		for c, cell := range row {
			on, ok := isSet(cell)
			switch name, is := classes[c]; {
			case !is:
				left = append(left, cell)
			case !ok:
				return fmt.Errorf("line %d: the column %s has %q: a column that is a class has 0 or 1", s.Lines[i], name, cell)
			case on:
				set = append(set, name)
			}
		}
		s.Rows[i] = append(left, strings.Join(set, HotSeparator))
	}
	s.Header = append(slices.DeleteFunc(slices.Clone(s.Header), func(name string) bool { return slices.Contains(r.Labels, name) }), r.Field)
	s.notes = append(s.notes, "each of the columns "+ListNames(r.Labels)+" is a class")
	s.classes, r.Labels = r.Labels, []string{r.Field}
	return nil
}
