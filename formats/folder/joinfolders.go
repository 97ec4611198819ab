package folder

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/labels"
)

// joinFolders makes the cells of the table names of class folders, so that both are one list of classes, in
// ImageFolder's order. The error is about a table whose labels cannot be those of folders, and about a class
// that only the table has: a typing error must not become a class.
func (l *labeler) joinFolders(types labels.Types, cfg *Config) error {
	if len(l.table.Labels) != 1 {
		return fmt.Errorf("its label columns are %s, but other images have the class of their folder: name the column of classes with --label-columns", tables.ListOrNone(l.table.Labels))
	}
	name := l.table.Labels[0]
	at, err := l.table.Column(name)
	if err != nil {
		return err
	}
	t := types.For(name)
	if t == labels.Float {
		return fmt.Errorf("--label-type float: its labels are numbers to predict, but other images have the class of their folder")
	}
	j := &joined{labeler: l, at: at, sep: cfg.LabelSep, known: map[string]bool{}}
	for _, class := range l.layout.Names {
		j.known[class] = true
	}
	if t == labels.Index || t == labels.Auto && j.onlyNumbers() {
		if t == labels.Auto {
			return fmt.Errorf("its labels are numbers, and no class folder has such a name. Choose what they are: --label-type index (positions among the sorted class folders, 0 is %s) or name (class names)", l.layout.Names[0])
		}
		return j.replaceIndices()
	}
	if cfg.ClassOrder != "" && cfg.ClassOrder != "natural" {
		return nil // the file has all classes, or that is an error
	}
	for _, f := range cfg.Like {
		for _, class := range f.Classes {
			j.known[class] = true
		}
	}
	return j.unknown(t)
}

// joined are the cells of a label column beside class folders.
type joined struct {
	*labeler
	at    int
	sep   string
	known map[string]bool
}

// split returns the labels of row i, as they are written.
func (j *joined) split(i int) []string {
	cell := j.table.Rows[j.table.Paths[i]][j.at]
	if j.sep == "" {
		return []string{cell}
	}
	return strings.Split(cell, j.sep)
}

// each calls yield for each label of each row, with the row's number, until it is false.
func (j *joined) each(yield func(row int, label string) bool) {
	for i := range j.table.Paths {
		for _, label := range j.split(i) {
			if label = strings.TrimSpace(label); label != "" && !yield(i, label) {
				return
			}
		}
	}
}

// onlyNumbers reports whether the labels are whole numbers, none of which is the name of a class folder.
func (j *joined) onlyNumbers() bool {
	found := false
	for _, label := range j.each {
		if _, err := strconv.Atoi(label); err != nil || j.known[label] {
			return false
		}
		found = found || label != "-1"
	}
	return found
}

// replaceIndices replaces class indices by the names of the class folders at these positions.
func (j *joined) replaceIndices() error {
	for i, p := range j.table.Paths {
		parts := j.split(i)
		for k, text := range parts {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			switch {
			case strings.TrimSpace(text) == "" || err == nil && n == -1:
				parts[k] = ""
			case err != nil || n < 0 || n >= len(j.layout.Names):
				return fmt.Errorf("%s: %q is not the index of a class folder: these are 0 to %d", j.table.Where(i), text, len(j.layout.Names)-1)
			default:
				parts[k] = j.layout.Names[n]
			}
		}
		j.table.Rows[p][j.at] = strings.Join(parts, j.sep)
	}
	return nil
}

// unknown returns an error about the classes that no folder has. With t Auto, -1 is no label.
func (j *joined) unknown(t labels.Type) error {
	var list []string
	first := map[string]int{}
	for i, label := range j.each {
		if _, seen := first[label]; seen || j.known[label] {
			continue
		}
		if label == "-1" && t == labels.Auto {
			p := j.table.Paths[i]
			if j.sep == "" {
				j.table.Rows[p][j.at] = ""
				continue
			}
		}
		first[label] = i
		list = append(list, label)
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return fmt.Errorf("%s: no class folder has the name %q (%d such classes: %s); the %d class folders are %s. If they are classes, list all classes in a file, one on each line, and give it with --class-order",
		j.table.Where(first[list[0]]), list[0], len(list), tables.ListNames(list), len(j.layout.Names), tables.ListNames(j.layout.Names[:min(5, len(j.layout.Names))]))
}

// isMissing reports whether programs write the text for a value that is missing.
func isMissing(text string) bool {
	return slices.Contains([]string{"nan", "na", "n/a", "<na>", "none", "null"}, strings.ToLower(strings.TrimSpace(text)))
}

// blankMissing empties the cells of a label column that mean a missing value, if all others are numbers. Among names
// they may be classes, which missingNotices says.
func (l *labeler) blankMissing(at int, t labels.Type, classes []string) {
	if t != labels.Auto && t != labels.Index || slices.ContainsFunc(classes, isMissing) {
		return
	}
	numbers := false
	var missing []string
	for _, p := range l.table.Paths {
		cell := strings.TrimSpace(l.table.Rows[p][at])
		if isMissing(cell) {
			missing = append(missing, p)
			continue
		}
		if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" {
			return
		}
		numbers = numbers || cell != ""
	}
	if numbers {
		for _, p := range missing {
			l.table.Rows[p][at] = ""
		}
	}
}

// missingNotices names the classes that may have been meant as missing values.
func (l *labeler) missingNotices() (list []string) {
	for _, f := range l.fields {
		if f.Sep != "" || f.Type != labels.Name {
			continue
		}
		counts := map[string]int{}
		for _, p := range l.table.Paths {
			if cell := strings.TrimSpace(l.table.Rows[p][f.column]); isMissing(cell) {
				counts[cell]++
			}
		}
		for _, class := range f.Classes {
			if n := counts[class]; n > 0 {
				list = append(list, fmt.Sprintf("%s: %d row(s) have the class %q; if that is no class, leave these cells empty", f.name, n, class))
			}
		}
	}
	return list
}

// labelFiles returns the files of labels, those of folders after the one of the root.
func (c *Config) labelFiles() ([]tables.File, error) {
	var list []tables.File
	if c.Labels != "" {
		list = append(list, tables.File{Folder: "", File: c.Labels})
	}
	for _, folder := range slices.Sorted(maps.Keys(c.FolderLabels)) {
		clean := path.Clean(filepath.ToSlash(folder))
		if folder == "" || clean == "." || !filepath.IsLocal(filepath.FromSlash(clean)) {
			return nil, fmt.Errorf("labels for the folder %q: give a folder in the source, such as val", folder)
		}
		if slices.ContainsFunc(list, func(f tables.File) bool { return f.Folder == clean }) {
			return nil, fmt.Errorf("labels for the folder %s: it has two files of labels", clean)
		}
		list = append(list, tables.File{Folder: clean, File: c.FolderLabels[folder]})
	}
	return list, nil
}

// uncovered returns the folders that are splits or classes beside those that files for folders cover: a table says what
// images in these are, whatever folders they are in.
func uncovered(c layout.Folders, files []tables.File) layout.Folders {
	files = slices.DeleteFunc(slices.Clone(files), func(f tables.File) bool { return f.Folder == "" })
	left := layout.Folders{}
	for name, contents := range c {
		f := tables.Covering(files, name+"/")
		if f == nil || f.Folder == name && slices.Contains(layout.Splits, name) {
			left[name] = contents
		}
	}
	return left
}
