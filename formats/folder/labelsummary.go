package folder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
)

// LabelColumn summarizes how a label column of the table was interpreted.
type LabelColumn struct {
	Column  string      `json:"column"` // "" for class folders
	Type    labels.Type `json:"as"`
	Classes int         `json:"classes,omitempty"`
	// Min and Max are the smallest and the largest number; nil if there is none.
	Min *float32 `json:"least,omitempty"`
	Max *float32 `json:"most,omitempty"`
	// WithoutLabel is the number of images without a label.
	WithoutLabel int `json:"without_label"`
	// MovedClass is the first class whose name is a number but not its index, and Index its
	// index; "" if there is none.
	MovedClass string `json:"moved,omitempty"`
	Index      int    `json:"index,omitempty"`
	// Summary is all that as a sentence.
	Summary string `json:"said"`

	multiHot bool
	note     string
	names    []string // of class folders
}

// notices says how the labels were found.
func (l *labeler) notices() []string {
	if l.table == nil {
		return nil
	}
	list := l.table.Notices
	for _, f := range l.files {
		if f.Folder != "" {
			list = append(list, fmt.Sprintf("%s/: labels from %s", f.Folder, f.File))
		}
	}
	list = append(list, l.missingNotices()...)
	for _, f := range l.fields {
		if names := l.onlyMissing(&f); len(names) > 0 {
			list = append(list, fmt.Sprintf("%s: %d class(es) only in rows without an image: %s", f.name, len(names), tables.ListNames(names)))
		}
	}
	switch {
	case !l.byFolder:
	case len(l.table.Labels) == 0:
		text := "no labels in the table: the class of an image is its folder's"
		if len(l.layout.Names) == 1 {
			text += fmt.Sprintf(", which is %s for all. If that is no class, give that folder as the source", l.layout.Names[0])
		}
		list = append(list, text)
	default:
		list = append(list, "images elsewhere: the class is their folder's")
	}
	return list
}

// onlyMissing returns the classes that no class folder and no row with an image has: each is an index that no sample
// has, and may be the word of a header.
func (l *labeler) onlyMissing(f *labelField) []string {
	if f.Type != labels.Name || !slices.Contains(l.table.Exists, false) {
		return nil
	}
	exists := make([]bool, len(f.Classes))
	if l.byFolder {
		for _, class := range l.layout.Names {
			for _, k := range f.Indices(class) {
				exists[k] = true
			}
		}
	}
	missing := slices.Clone(exists)
	clear(missing)
	for i, p := range l.table.Paths {
		for _, k := range f.Indices(l.table.Rows[p][f.column]) {
			exists[k] = exists[k] || l.table.Exists[i]
			missing[k] = missing[k] || !l.table.Exists[i]
		}
	}
	var names []string
	for k, name := range f.Classes {
		if missing[k] && !exists[k] {
			names = append(names, name)
		}
	}
	return names
}

// explainNone adds to the error that there are no images how paths differ, if none of the table is that of an image.
func (l *labeler) explainNone(err error, skips []formats.Skip) error {
	if l.table == nil || slices.Contains(l.table.Exists, true) {
		return err
	}
	for _, k := range skips {
		if _, listed := l.table.Rows[k.Path]; !listed && vfs.HasImageName(k.Path) {
			return fmt.Errorf("%w. No path of the table is that of an image: it has paths such as %q, and images are such as %q", err, l.table.Paths[0], k.Path)
		}
	}
	return err
}

// LabelColumns summarizes the label columns, or the class folders.
func (d *Dataset) LabelColumns() []LabelColumn { return d.columns }

func (c *LabelColumn) describe() string {
	s := c.Column + ": "
	switch {
	case c.Column == "":
		what := "classes"
		if c.Classes == 1 {
			what = "class"
		}
		s = fmt.Sprintf("labels: %d %s from folders: %s", c.Classes, what, layout.Shorten(c.names, 10))
	case c.Type == labels.Float && c.Min == nil:
		s += "numbers (float32)"
	case c.Type == labels.Float:
		s += fmt.Sprintf("numbers from %s to %s (float32)", labels.FormatFloat(*c.Min), labels.FormatFloat(*c.Max))
	case c.Type == labels.Index && c.Classes > 0:
		s += fmt.Sprintf("%d classes, the indices 0 to %d as they are", c.Classes, c.Classes-1)
	case c.Classes == 0:
		s += "no classes"
	default:
		s += fmt.Sprintf("%d classes by name", c.Classes)
	}
	switch {
	case c.MovedClass != "" && c.Column == "":
		s += fmt.Sprintf(" (the index of %s is %d, as in ImageFolder; --class-order natural puts 2 before 10)", c.MovedClass, c.Index)
	case c.MovedClass != "":
		s += fmt.Sprintf(" (the index of %s is %d)", c.MovedClass, c.Index)
	}
	if c.note != "" {
		s += "; " + c.note
	}
	if c.WithoutLabel > 0 {
		s += fmt.Sprintf("; %d without a label", c.WithoutLabel)
	}
	return s
}

// labelColumns returns the label columns of no image yet.
func (l *labeler) labelColumns() (list []LabelColumn) {
	if l.layout.Class && l.fromFolders() && len(l.fields) == 0 {
		c := LabelColumn{Type: labels.Name, Classes: len(l.layout.Names), names: l.layout.Names}
		if areIndices(c.names) { // others, such as years, need not be what they say
			c.findMoved(c.names)
		}
		return []LabelColumn{c}
	}
	for _, f := range l.fields {
		c := LabelColumn{Column: f.name, Type: f.Type, Classes: len(f.Classes), multiHot: f.Sep != "", note: f.Note()}
		c.findMoved(f.Classes)
		list = append(list, c)
	}
	return list
}

// findMoved sets the first class whose name is a number but not its index.
func (c *LabelColumn) findMoved(names []string) {
	for i, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n != i {
			c.MovedClass, c.Index = name, i
			return
		}
	}
}

// areIndices reports whether the names are the numbers from 0.
func areIndices(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		n, err := strconv.Atoi(name)
		return err != nil || n < 0 || n >= len(names) || strconv.Itoa(n) != name
	})
}

// count adds an image's label of field k.
func (c *LabelColumn) count(of []int64, k int) {
	switch {
	case c.multiHot:
		if len(of) == 0 {
			c.WithoutLabel++
		}
	case c.Type != labels.Float:
		if of[k] == formats.NoLabel {
			c.WithoutLabel++
		}
	default:
		x := math.Float32frombits(uint32(of[k]))
		if math.IsNaN(float64(x)) {
			c.WithoutLabel++
			return
		}
		if c.Min == nil || x < *c.Min {
			c.Min = &x
		}
		if c.Max == nil || x > *c.Max {
			c.Max = &x
		}
	}
}

// noLabels is the notice for a dataset of images alone.
const noLabels = "no labels: no table gives them, and the images are in no class folders"

// noticeFolders adds what may be overlooked about labels from class folders to the notices.
func (d *Dataset) noticeFolders(cfg *Config, folders layout.Folders) {
	l, ok := d.source.(*labeler)
	switch {
	case d.meta.Schema.LabelIndex() < 0:
		d.notices = append(d.notices, noLabels)
	case ok && l.fromFolders() && !d.isList:
		d.notices = append(d.notices, l.layout.Notices(&layout.Reading{Folders: folders, Where: d.where, Ordered: cfg.ClassOrder != ""})...)
	}
}

func (d *Dataset) where(rel string) string { return vfs.Where(d.in, rel) }

// fromFolders reports whether images may have the class of their folder.
func (l *labeler) fromFolders() bool { return l.table == nil || l.byFolder }

// checkMounts returns an error if all class folders of a source that is mounted as a split are named as splits: nobody
// means these as classes, and the labels would be lost without a word.
func (d *Dataset) checkMounts(mounts []Mount) error {
	l, ok := d.source.(*labeler)
	if !ok || !l.fromFolders() {
		return nil
	}
	var all error
	for _, m := range mounts {
		if !slices.Contains(layout.Splits, m.Name) {
			continue
		}
		if sources := l.layout.SplitsBelow(m.Name, d.where); sources != "" {
			all = errors.Join(all, fmt.Errorf("%s: it has folders named as splits where %s must have classes: pack %s", d.where(m.Name), m.Name, sources))
		}
	}
	return all
}
