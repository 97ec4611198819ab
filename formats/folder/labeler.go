package folder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
)

// labeler gives each image its split, labels and columns, from folders, from tables without a description, or
// from both.
type labeler struct {
	layout layout.Layout
	index  map[string]int64 // of the folders' classes, if there is no table
	files  []tables.File    // of tables; none for folders
	table  *tables.Labels   // of all files
	isList bool             // the table is the source, a list of images
	// byFolder: images that no table lists may have the label of their class folder, and those of a table without
	// labels have it.
	byFolder bool
	fields   []labelField // of the table
	rest     []int        // the table's other columns, which become user columns
}

// labelField is a label column of a table.
type labelField struct {
	*labels.Column
	name   string
	field  string // the name of the field
	column int
}

func newLabeler(in vfs.FS, cfg *Config, folders layout.Folders) (*labeler, error) {
	files, err := cfg.labelFiles()
	if err != nil {
		return nil, err
	}
	l := &labeler{files: files, table: cfg.list, isList: cfg.list != nil}
	if cfg.list != nil {
		l.files = []tables.File{cfg.list.Files[0].File}
	} else if len(files) > 0 {
		if l.table, err = tables.ReadLabels(in, files, cfg.LabelColumns); err != nil {
			return nil, err
		}
	}
	order := cfg.ClassOrder
	switch {
	case l.table == nil:
	case len(l.table.Labels) == 0: // the class folders of the listed images
		l.byFolder = true
	case cfg.list != nil:
		order = ""
	default:
		order = "" // it orders the table's classes, not the folders'
		l.byFolder = cfg.Labels == ""
		folders = uncovered(folders, files)
	}
	if l.layout, err = layout.New(in, folders, order); err != nil {
		return nil, err
	}
	l.layout.Names = likeNames(l.layout.Names, cfg)
	l.index = labels.IndexOf(l.layout.Names)
	l.byFolder = l.byFolder && l.layout.Class
	if l.table == nil {
		return l, nil
	}
	if err := l.choose(in, cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", tables.Names(l.files), err)
	}
	return l, nil
}

// likeNames returns the classes of folders in the order that they have in the dataset of cfg.Like, which has the first ones.
func likeNames(names []string, cfg *Config) []string {
	k := cfg.Like.LabelIndex()
	if k < 0 || len(names) == 0 || len(cfg.Like[k].Classes) == 0 {
		return names
	}
	all, known := slices.Clone(cfg.Like[k].Classes), labels.IndexOf(cfg.Like[k].Classes)
	for _, name := range names {
		if _, ok := known[name]; !ok {
			all = append(all, name)
		}
	}
	return all
}

// choose finds the label columns of the table and their classes.
func (l *labeler) choose(in vfs.FS, cfg *Config) error {
	names := l.table.Labels
	if cfg.LabelSep != "" && len(names) != 1 {
		return fmt.Errorf("--label-sep needs exactly one label column, there are %d", len(names))
	}
	if l.table.Doubt != "" && cfg.LabelType == "" && cfg.Like == nil {
		return errors.New(l.table.Doubt)
	}
	types, err := labels.ParseTypes(cfg.LabelType)
	if err == nil {
		err = errors.Join(types.Check(names), checkOrder(names, types, cfg))
	}
	if err == nil && l.byFolder && len(names) > 0 {
		if err = l.joinFolders(types, cfg); err != nil && len(cfg.Patterns.Include) > 0 {
			err = fmt.Errorf("%w. Folders that --include leaves out are classes too; --exclude FOLDER leaves out the class", err)
		}
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
	for i := range l.table.Columns {
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
	if slices.ContainsFunc(columns, func(name string) bool { t := types.For(name); return t == labels.Auto || t == labels.Name }) {
		return nil
	}
	return fmt.Errorf("with --label-type %s there are no class names for --class-order %s to order: leave one of them out", cfg.LabelType, cfg.ClassOrder)
}

// read interprets the cells of a label column.
func (l *labeler) read(in vfs.FS, name string, t labels.Type, cfg *Config) (*labelField, error) {
	at, err := l.table.Column(name)
	if err != nil {
		return nil, err
	}
	if line, ok := l.table.Nested[name]; ok {
		return nil, fmt.Errorf("line %d: %s is a list or an object; write several labels as one text with a separator, and use --label-sep", line, name)
	}
	field := cmp.Or(l.table.Field, fields.Name(name))
	var like *formats.Field
	if k := cfg.Like.Index(field); k >= 0 && cfg.Like[k].Kind.IsLabel() {
		like = &cfg.Like[k]
	}
	if cfg.ClassOrder == "" && cfg.LabelSep == "" {
		var classes []string
		if like != nil {
			classes = like.Classes
		}
		l.blankMissing(at, t, classes)
	}
	src := l.cells(name, at, t, cfg)
	src.Like = like
	if cfg.ClassOrder != "" {
		src.Order = func(names []string) ([]string, error) { return layout.Order(in, names, cfg.ClassOrder) }
		if _, err := src.Order([]string{"-1"}); t == labels.Auto && cfg.ClassOrder != "natural" && err == nil {
			src.Type = labels.Name // the file says that -1 is a class
		}
	}
	column, err := src.Read()
	if err != nil {
		return nil, err
	}
	return &labelField{Column: column, name: name, field: field, column: at}, nil
}

// cells returns the cells of a label column, after which come the classes of folders and of known files.
func (l *labeler) cells(name string, at int, t labels.Type, cfg *Config) *labels.Source {
	rows := len(l.table.Paths)
	src := &labels.Source{Column: name, Type: t, Sep: cfg.LabelSep, Cells: make([]string, rows)}
	for i, p := range l.table.Paths {
		src.Cells[i] = l.table.Rows[p][at]
	}
	more := l.table.Classes
	if l.byFolder {
		more = l.layout.Names
	}
	src.Where = func(i int) string {
		if i >= rows {
			return "the class " + more[i-rows]
		}
		return l.table.Where(i)
	}
	switch {
	case l.table.OneHot:
		src.Cells, src.Type, src.Sep = append(src.Cells, more...), labels.Name, tables.HotSeparator
		src.Order = func([]string) ([]string, error) { return slices.Clone(more), nil }
	case len(more) > 0:
		src.Cells = append(src.Cells, more...)
		src.Type = labels.Name
		src.Order = func(names []string) ([]string, error) { // as ImageFolder's
			slices.Sort(names)
			return names, nil
		}
	}
	return src
}

// label sets split, labels and columns of it, or returns why it is skipped.
func (l *labeler) label(it *sample) (why string) {
	split, class, ok := l.layout.SplitAndClass(it.Place())
	it.split = split
	if l.table == nil {
		if !ok {
			return "it is not in a class folder"
		}
		if l.layout.Class {
			it.labels = l.ofFolder(class)
		}
		return ""
	}
	if row, listed := l.table.Rows[it.Path]; listed {
		if l.byFolder && len(l.fields) == 0 {
			if !ok {
				return "it is not in a class folder"
			}
			it.labels = l.ofFolder(class)
		}
		for i := range l.fields {
			it.labels = append(it.labels, l.fields[i].labels(row)...)
		}
		for _, i := range l.rest {
			it.columns = append(it.columns, row[i])
		}
		return ""
	}
	switch f := tables.Covering(l.files, it.Path); {
	case f != nil:
		return "it is not listed in " + f.File
	case !l.byFolder || !ok:
		return "it is not in a class folder, and no table is for its folder"
	}
	it.labels = l.ofFolder(class)
	it.columns = make([]string, len(l.rest))
	return ""
}

// ofFolder returns the labels of an image in a class folder: those of the only label column, or the class alone.
// The class "" is none.
func (l *labeler) ofFolder(class string) []int64 {
	switch {
	case len(l.fields) > 0:
		return l.fields[0].labelsOf(class)
	case class == "":
		return []int64{formats.NoLabel}
	}
	return []int64{l.index[class]}
}

// labels returns a row's labels: the bits of a number, the class index, or the set classes of a
// multi-hot label.
func (f *labelField) labels(row []string) []int64 {
	cell := row[f.column]
	if f.Type == labels.Float {
		return []int64{int64(math.Float32bits(f.Number(cell)))}
	}
	return f.labelsOf(cell)
}

// labelsOf returns the class index of a name, or the set classes of a multi-hot label; "" is no label.
func (f *labelField) labelsOf(cell string) []int64 {
	list := f.Indices(cell)
	if f.Sep == "" && len(list) == 0 {
		return []int64{formats.NoLabel}
	}
	return list
}

// missing lists the table's files that the scan of the folder cannot have found.
func (l *labeler) missing(in vfs.FS) []formats.Skip {
	if l.table == nil {
		return nil
	}
	return l.table.Missing(in, l.isList)
}

func (l *labeler) includes(string) bool { return true }

func (l *labeler) schema() formats.Schema {
	s := formats.Schema{{Name: "image", Kind: formats.Image}}
	if l.layout.Class && (l.table == nil || l.byFolder && len(l.fields) == 0) {
		return append(s, formats.Field{Name: "label", Kind: formats.Label, DType: formats.Int64, Classes: l.layout.Names})
	}
	if l.table == nil {
		return s
	}
	for _, f := range l.fields {
		s = append(s, f.Field(f.field))
	}
	return s
}

func (l *labeler) userColumns() []string {
	var names []string
	for _, i := range l.rest {
		names = append(names, l.table.Columns[i])
	}
	return names
}
