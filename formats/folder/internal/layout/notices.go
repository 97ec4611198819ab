package layout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Reading is what Notices must know of how the folder is read.
type Reading struct {
	Folders Folders
	Where   func(rel string) string // a folder of the source, as a command names it
	Ordered bool                    // the user said which order the classes have
}

// Notices says where the classes may not be what the user means, and what to do then.
func (l *Layout) Notices(r *Reading) []string {
	var list []string
	for _, notice := range []string{l.oneClass(r), l.splitWords(r), l.flatSplits(), l.movedIndices(r), l.deeper(r)} {
		if notice != "" {
			list = append(list, notice)
		}
	}
	return list
}

// each yields the class folders by split.
func (l *Layout) each(yield func(split, rel string) bool) {
	for _, split := range slices.Sorted(maps.Keys(l.of)) {
		for _, name := range l.of[split] {
			if !yield(split, path.Join(split, name)) {
				return
			}
		}
	}
}

// source returns the source for a folder, below the name of its split.
func source(split, folder string) string {
	if split == "" {
		return quoted(folder)
	}
	return quoted(split + "=" + folder)
}

// quoted returns an argument as a shell reads it.
func quoted(word string) string {
	if strings.ContainsAny(word, " \t'\"\\$&;|<>()*?[]#~`!{}") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// oneClass is about one class whose images lie in several folders.
func (l *Layout) oneClass(r *Reading) string {
	if len(l.all()) != 1 {
		return ""
	}
	var sources []string
	several := false
	for split, rel := range l.each {
		f := r.Folders[rel]
		several = several || f.hasFolders()
		around := f.deepest
		if !f.hasFolders() { // the only folder that would be a class
			around = path.Dir(around)
		}
		sources = append(sources, source(split, r.Where(path.Join(rel, around))))
	}
	if !several {
		return ""
	}
	return fmt.Sprintf("one class, %s, though its images lie in several folders: if these are the classes, pack %s", l.all()[0], strings.Join(sources, " "))
}

// all returns the classes that have folders.
func (l *Layout) all() []string {
	var names []string
	for _, of := range l.of {
		names = append(names, of...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// splitWord returns the split that a folder's name stands for, such as train for Training or train_256; "" if none.
func splitWord(name string) string {
	name = strings.ToLower(name)
	word := name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	switch {
	case !formats.IsSplitWord(word):
		return ""
	case word == "dev":
		return "val"
	}
	return strings.TrimSuffix(word, "ing")
}

// splitWords is about classes that are named as splits.
func (l *Layout) splitWords(r *Reading) string {
	if l.Split {
		return ""
	}
	var words, others, sources []string
	nested, exact := false, true
	for _, rel := range l.each {
		split := splitWord(rel)
		if split == "" {
			others = append(others, rel)
			continue
		}
		words = append(words, rel)
		sources = append(sources, source(split, r.Where(rel)))
		nested = nested || r.Folders[rel].hasFolders()
		exact = exact && slices.Contains(Splits, rel)
	}
	if len(words) == 0 || len(others) > 0 && len(words) == 1 && !nested {
		return "" // a class may be named train
	}
	text := Shorten(words, 5) + " are classes here and no splits"
	if len(words) == 1 {
		text = words[0] + " is a class here and no split"
	}
	pack := "pack " + strings.Join(sources, " ")
	if len(others) == 0 {
		return fmt.Sprintf("%s: if they are splits, %s", text, pack)
	}
	besides := fmt.Sprintf("%s, since %s lies beside: if they are splits, ", text, Shorten(others, 3))
	if exact && len(others) <= 3 {
		for i, rel := range others {
			others[i] = "--exclude " + quoted(rel+"/")
		}
		return besides + fmt.Sprintf("leave out the other (%s), or %s", strings.Join(others, " "), pack)
	}
	return besides + pack
}

// flatSplits is about splits without classes.
func (l *Layout) flatSplits() string {
	if len(l.flat) == 0 {
		return ""
	}
	var folders, tables, out []string
	for _, split := range slices.Sorted(maps.Keys(l.flat)) {
		folders = append(folders, split+"/"+l.flat[split])
		tables = append(tables, fmt.Sprintf("--labels %s=FILE", split))
		out = append(out, fmt.Sprintf("--exclude %s/", split))
	}
	return fmt.Sprintf("%s: no class, so its images have no label: give them a table (%s), or leave them out (%s)",
		strings.Join(folders, ", "), strings.Join(tables, " "), strings.Join(out, " "))
}

// movedIndices is about classes that train does not have.
func (l *Layout) movedIndices(r *Reading) string {
	train := l.of["train"]
	if r.Ordered || len(train) == 0 {
		return ""
	}
	only, splits := map[string]string{}, map[string]bool{}
	for split, rel := range l.each {
		name := path.Base(rel)
		if _, known := slices.BinarySearch(train, name); !known {
			only[name], splits[split] = rel, true
		}
	}
	if len(only) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(only))
	what := "the class %s is"
	if len(names) > 1 {
		what = "the classes %s are"
	}
	text := fmt.Sprintf(what+" only in %s", Shorten(names, 5), strings.Join(slices.Sorted(maps.Keys(splits)), ", "))
	if names[0] > train[len(train)-1] {
		return text // the others keep their indices
	}
	return text + fmt.Sprintf(", so indices differ from those of ImageFolder(%s): leave such classes out (--exclude %s), or give all classes in your order (--class-order FILE)",
		r.Where("train"), quoted(only[names[0]]+"/"))
}

// deeper is about classes most of which have folders of images.
func (l *Layout) deeper(r *Reading) string {
	classes, nested, example := 0, 0, ""
	for _, rel := range l.each {
		classes++
		if f := r.Folders[rel]; f.hasFolders() && len(f.below) > 1 {
			nested++
			if example == "" || len(f.below) > len(r.Folders[example].below) {
				example = rel
			}
		}
	}
	if len(l.all()) < 2 || nested*2 <= classes || l.splitWords(r) != "" {
		return ""
	}
	below := r.Folders[example].below
	count := fmt.Sprint(len(below))
	if len(below) == maxBelow {
		count += " or more"
	}
	return fmt.Sprintf("classes are the first folders, as in ImageFolder; %s has %s folders of images: %s; if these are the classes, give a table of labels, --labels FILE",
		example, count, Shorten(below, 3))
}

// Shorten lists the first names.
func Shorten(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// SplitsBelow returns the sources that the class folders of a split are, if all of them are named as splits; "" if not.
func (l *Layout) SplitsBelow(split string, where func(rel string) string) string {
	var sources []string
	for _, name := range l.of[split] {
		word := splitWord(name)
		if word == "" {
			return ""
		}
		if len(l.of[split]) == 1 {
			word = split
		}
		sources = append(sources, source(word, where(path.Join(split, name))))
	}
	return strings.Join(sources, " ")
}
