package folder

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// labeler gives each image its split, labels and columns, from folders or from a table without a
// description.
type labeler struct {
	layout layout
	index  map[string]int64 // of the folders' classes
	table  *table           // nil for folders
	file   string           // the table's name, for messages
	fields []labelField     // of the table
	rest   []int            // the table's other columns, which become user columns
}

// labelField is a label column of a table.
type labelField struct {
	*labels.Column
	name   string
	column int
}

func newLabeler(in filesystem, cfg *Config, folders classFolders) (*labeler, error) {
	order := cfg.ClassOrder
	if cfg.Labels != "" {
		order = "" // it orders the table's classes, not the folders'
	}
	lay, err := newLayout(in, folders, order)
	if err != nil {
		return nil, err
	}
	l := &labeler{layout: lay, index: labels.IndexOf(lay.names), file: cfg.Labels}
	if cfg.Labels == "" {
		return l, nil
	}
	if l.table, err = readTable(in, cfg.Labels); err != nil {
		return nil, err
	}
	if err := l.choose(in, cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Labels, err)
	}
	return l, nil
}

// choose finds the label columns of the table and their classes.
func (l *labeler) choose(in filesystem, cfg *Config) error {
	names := cfg.LabelColumns
	if len(names) == 0 && slices.Contains(l.table.columns, "label") {
		names = []string{"label"}
	}
	if cfg.LabelSep != "" && len(names) != 1 {
		return fmt.Errorf("--label-sep needs exactly one label column, there are %d", len(names))
	}
	types, err := labels.ParseTypes(cfg.LabelType)
	if err == nil {
		err = errors.Join(types.Check(names), checkOrder(names, types, cfg))
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := l.read(in, name, types.For(name), cfg)
		if err != nil {
			return err
		}
		l.fields = append(l.fields, *f)
	}
	for i := range l.table.columns {
		if !slices.ContainsFunc(l.fields, func(f labelField) bool { return f.column == i }) {
			l.rest = append(l.rest, i)
		}
	}
	return l.schema().Validate()
}

// checkOrder returns an error if there is a class order but no column of class names.
func checkOrder(columns []string, types labels.Types, cfg *Config) error {
	if cfg.ClassOrder == "" || cfg.Like != nil || len(columns) == 0 {
		return nil
	}
	for _, name := range columns {
		if t := types.For(name); t == labels.Auto || t == labels.Name {
			return nil
		}
	}
	return fmt.Errorf("with --label-type %s there are no class names for --class-order %s to order: leave one of them out", cfg.LabelType, cfg.ClassOrder)
}

// read interprets the cells of a label column.
func (l *labeler) read(in filesystem, name string, t labels.Type, cfg *Config) (*labelField, error) {
	at, err := l.table.column(name)
	if err != nil {
		return nil, err
	}
	if line, ok := l.table.nested[name]; ok {
		return nil, fmt.Errorf("line %d: %s is a list or an object; write several labels as one text with a separator, and use --label-sep", line, name)
	}
	src := labels.Source{
		Column: name, Type: t, Sep: cfg.LabelSep, Cells: make([]string, len(l.table.paths)),
		Where: func(i int) string { return fmt.Sprintf("line %d", l.table.lineNumbers[i]) },
	}
	for i, p := range l.table.paths {
		src.Cells[i] = l.table.rows[p][at]
	}
	if k := cfg.Like.Index(fieldName(name)); k >= 0 && cfg.Like[k].Kind.IsLabel() {
		src.Like = &cfg.Like[k]
	}
	if cfg.ClassOrder != "" {
		src.Order = func(names []string) ([]string, error) { return orderClasses(in, names, cfg.ClassOrder) }
		if _, err := src.Order([]string{"-1"}); t == labels.Auto && cfg.ClassOrder != "natural" && err == nil {
			src.Type = labels.Name // the file says that -1 is a class
		}
	}
	column, err := src.Read()
	if err != nil {
		return nil, err
	}
	return &labelField{Column: column, name: name, column: at}, nil
}

// label sets split, labels and columns of it, or returns why it is skipped.
func (l *labeler) label(it *sample) (why string) {
	split, class, ok := l.layout.splitAndClass(it.place())
	it.split = split
	if l.table == nil {
		if !ok {
			return "it is not in a class folder"
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
	for i := range l.fields {
		it.labels = append(it.labels, l.fields[i].labels(row)...)
	}
	for _, i := range l.rest {
		it.columns = append(it.columns, row[i])
	}
	return ""
}

// labels returns a row's labels: the bits of a number, the class index, or the set classes of a
// multi-hot label.
func (f *labelField) labels(row []string) []int64 {
	cell := row[f.column]
	if f.Type == labels.Float {
		return []int64{int64(math.Float32bits(f.Number(cell)))}
	}
	list := f.Indices(cell)
	if f.Sep == "" && len(list) == 0 {
		return []int64{formats.NoLabel}
	}
	return list
}

// missing lists the table's files that the scan of the folder cannot have found.
func (l *labeler) missing(in filesystem) []Skip {
	if l.table == nil {
		return nil
	}
	return missingFiles(l.table, l.file, in)
}

func missingFiles(t *table, file string, in filesystem) []Skip {
	var skips []Skip
	for _, p := range t.paths {
		if why := whyNotFound(p, in); why != "" {
			skips = append(skips, Skip{Path: p, Cause: "it is listed in " + file + " but " + why})
		}
	}
	return skips
}

func (l *labeler) includes(string) bool { return true }

// whyNotFound returns why the scan of the folder cannot have found p, "" if it has.
func whyNotFound(p string, in filesystem) string {
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "is outside the folder"
	}
	if _, err := in.lstat(p); err != nil {
		if strings.Contains(p, "\\") {
			return "does not exist: write paths with /"
		}
		return "does not exist"
	}
	if ext := strings.ToLower(path.Ext(p)); !slices.Contains(readExtensions, ext) && !slices.Contains(unreadExtensions, ext) {
		return "has no extension of an image"
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
		s = append(s, f.Field(fieldName(f.name)))
	}
	return s
}

// fieldName turns a column's name into a valid field name.
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
