package folder

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// labeler gives each image its split, labels and columns, from folders or from a table.
type labeler struct {
	layout layout
	index  map[string]int64 // of the folders' classes
	table  *table           // nil for folders
	file   string           // the table's name, for messages
	fields []labelField     // of the table
	rest   []int            // the table's columns that are kept as they are
}

// labelField is a label column of a table.
type labelField struct {
	name    string
	column  int
	sep     string // not "" for multi-hot
	classes []string
	index   map[string]int64
}

func newLabeler(root string, cfg *Config, take *formats.Chooser) (*labeler, error) {
	order := cfg.ClassOrder
	if cfg.Labels != "" {
		order = "" // it is the table's classes that are ordered
	}
	lay, err := layoutOf(root, order, take)
	if err != nil {
		return nil, err
	}
	l := &labeler{layout: lay, index: indexOf(lay.names), file: cfg.Labels}
	if cfg.Labels == "" {
		return l, nil
	}
	if l.table, err = readTable(cfg.Labels, root); err != nil {
		return nil, err
	}
	if err := l.choose(cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Labels, err)
	}
	return l, nil
}

// choose finds the label columns of the table and their classes.
func (l *labeler) choose(cfg *Config) error {
	names := cfg.LabelColumns
	if len(names) == 0 && slices.Contains(l.table.columns, "label") {
		names = []string{"label"}
	}
	if cfg.LabelSep != "" && len(names) != 1 {
		return fmt.Errorf("with a separator there is one label column, not %d", len(names))
	}
	for _, name := range names {
		at, err := l.table.column(name)
		if err != nil {
			return err
		}
		if line, ok := l.table.nested[name]; ok {
			return fmt.Errorf("line %d: %s is a list or an object, where a text is expected; several labels are one text with a separator", line, name)
		}
		f := labelField{name: name, column: at, sep: cfg.LabelSep}
		if f.classes, err = f.findClasses(l.table, cfg.ClassOrder); err != nil {
			return err
		}
		f.index = indexOf(f.classes)
		l.fields = append(l.fields, f)
	}
	for i := range l.table.columns {
		if !slices.ContainsFunc(l.fields, func(f labelField) bool { return f.column == i }) {
			l.rest = append(l.rest, i)
		}
	}
	return l.schema().Validate()
}

// findClasses lists the labels of a column. Labels that are all whole numbers from 0 are
// the indices themselves: "10" is class 10, wherever it would be sorted.
func (f *labelField) findClasses(t *table, order string) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	largest, numbers := -1, order == ""
	for _, p := range t.lines {
		for _, name := range f.split(t.rows[p][f.column]) {
			if seen[name] {
				continue
			}
			seen[name] = true
			names = append(names, name)
			n, err := strconv.Atoi(name)
			numbers = numbers && err == nil && n >= 0 && n < 1<<20 && strconv.Itoa(n) == name
			largest = max(largest, n)
		}
	}
	if !numbers {
		return orderClasses(names, order)
	}
	names = make([]string, largest+1)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names, nil
}

// split takes a cell apart; an empty cell has no label.
func (f *labelField) split(cell string) []string {
	if cell == "" {
		return nil
	}
	if f.sep == "" {
		return []string{cell}
	}
	var names []string
	for name := range strings.SplitSeq(cell, f.sep) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func indexOf(names []string) map[string]int64 {
	index := make(map[string]int64, len(names))
	for i, name := range names {
		index[name] = int64(i)
	}
	return index
}

// label fills split, labels and columns of it, or says why it cannot be taken.
func (l *labeler) label(it *item) (why string) {
	split, class, ok := l.layout.place(it.path)
	it.split = split
	if l.table == nil {
		if !ok {
			return "it is in no class folder"
		}
		if l.layout.class {
			it.labels = []int64{l.index[class]}
		}
		return ""
	}
	row, ok := l.table.rows[it.path]
	if !ok {
		return "it is not listed in " + l.file
	}
	for _, f := range l.fields {
		if f.sep == "" {
			it.labels = append(it.labels, formats.NoLabel)
		}
		for _, name := range f.split(row[f.column]) {
			if f.sep == "" {
				it.labels[len(it.labels)-1] = f.index[name]
			} else {
				it.labels = append(it.labels, f.index[name])
			}
		}
	}
	for _, i := range l.rest {
		it.columns = append(it.columns, row[i])
	}
	return ""
}

// missing names what the table lists and the scan of the folder cannot have met.
func (l *labeler) missing(root string) []Skip {
	if l.table == nil {
		return nil
	}
	return missingOf(l.table, l.file, root)
}

func missingOf(t *table, file, root string) []Skip {
	var skips []Skip
	for _, p := range t.lines {
		if why := unlisted(p, root); why != "" {
			skips = append(skips, Skip{Path: p, Cause: "it is listed in " + file + " but " + why})
		}
	}
	return skips
}

func (l *labeler) files(found []file) []file { return found }

// unlisted says why the scan of the folder cannot have met p, "" if it has.
func unlisted(p, root string) string {
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "lies outside the folder"
	}
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p))); err != nil {
		if strings.Contains(p, "\\") {
			return "is not there: paths are written with /"
		}
		return "is not there"
	}
	if ext := strings.ToLower(path.Ext(p)); !slices.Contains(read, ext) && !slices.Contains(unread, ext) {
		return "is no image by its name"
	}
	return ""
}

func (l *labeler) schema() formats.Schema {
	s := formats.Schema{{Name: "image", Kind: formats.Image}}
	if l.table == nil {
		if l.layout.class {
			s = append(s, formats.Field{Name: "label", Kind: formats.Label, DType: formats.Int64, Classes: l.layout.names})
		}
		return s
	}
	for _, f := range l.fields {
		field := formats.Field{Name: fieldName(f.name), Kind: formats.Label, DType: formats.Int64, Classes: f.classes}
		if f.sep != "" {
			field.Kind, field.DType, field.Shape = formats.MultiHot, formats.Uint8, []int{len(f.classes)}
		}
		s = append(s, field)
	}
	return s
}

// fieldName makes a column's name fit for a field.
func fieldName(column string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, column)
}

func (l *labeler) userColumns() []string {
	var names []string
	for _, i := range l.rest {
		names = append(names, l.table.columns[i])
	}
	return names
}
