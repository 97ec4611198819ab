package hdf5

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/h5file"
)

// The usual names of arrays.
var (
	imageNames = []string{"images", "image", "x", "imgs", "img", "data", "pixels", "set_x"}
	labelNames = []string{"labels", "label", "y", "targets", "target", "class", "set_y"}
	classNames = []string{"classes", "class_names", "list_classes", "label_names", "categories"}
)

// part is the arrays of one split.
type part struct {
	split   string
	count   int
	image   *h5file.Dataset
	label   *h5file.Dataset // nil if there is none
	extras  map[string]*h5file.Dataset
	classes []string
}

// skipped is an array that is no part of samples.
type skipped struct{ path, cause string }

// splitOf divides the name of an array into its split and the rest. A name that is only a split is an array's own.
func splitOf(name string) (split, rest string) {
	if split, rest = formats.CutSplit(name); rest == "" {
		return "", split
	}
	return split, rest
}

// finder finds the arrays of a file.
type finder struct {
	file    *h5file.File
	m       map[string]string
	parts   []*part
	skipped []skipped
}

// find finds the parts: in the root, else in a group for each split.
func (f *finder) find() error {
	names, _, err := f.file.Members("")
	if err != nil {
		return err
	}
	if err := f.group("", "", names); err != nil {
		return err
	}
	for _, name := range names {
		if len(f.parts) > 0 && f.parts[0].split == "" {
			break
		}
		if !formats.IsSplitWord(name) {
			continue
		}
		members, ok, err := f.file.Members(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if ok {
			if err := f.group(name, strings.ToLower(name), members); err != nil {
				return err
			}
		}
	}
	if len(f.parts) == 0 {
		return f.errNoImages(names)
	}
	slices.SortFunc(f.parts, func(a, b *part) int { return strings.Compare(a.split, b.split) })
	return f.agree()
}

// errNoImages says what the file has instead of an array of images.
func (f *finder) errNoImages(names []string) error {
	list := func(names []string) string { return strings.Join(names[:min(len(names), 30)], ", ") }
	if links := f.file.Links; len(links) > 0 {
		return fmt.Errorf("%w: it has links (%s), which are not followed, beside %q: name the array in this file that one leads to: --map image=/PATH,label=/PATH; "+
			"arrays of another file must be copied here first", formats.ErrSchema, list(links), list(names))
	}
	return fmt.Errorf("%w: no array is named like images; it has %s: name the array of image files: --map image=/PATH; otherwise %s", formats.ErrSchema, list(names), foreign.FromPython)
}

// group finds the parts whose arrays are in a group.
func (f *finder) group(group, split string, names []string) error {
	splits := map[string][]string{}
	for _, name := range names {
		of, _ := splitOf(name)
		if len(f.m) > 0 || split != "" {
			of = ""
		}
		splits[of] = append(splits[of], name)
	}
	for of, members := range splits {
		image := f.named("image", imageNames, members)
		if image == "" {
			continue
		}
		p := &part{split: split, extras: map[string]*h5file.Dataset{}}
		if of != "" {
			p.split = of
		}
		if of != "" {
			members = append(slices.Clone(members), splits[""]...) // class names
		}
		if err := f.part(p, group, image, members); err != nil {
			return err
		}
		if slices.ContainsFunc(f.parts, func(q *part) bool { return q.split == p.split }) {
			return fmt.Errorf("%w: two arrays are the images of the split %q: choose one, such as --map image=%s", formats.ErrSchema, p.split, image)
		}
		f.parts = append(f.parts, p)
	}
	return nil
}

// named returns the name of the array for a field, "" if there is none.
func (f *finder) named(field string, usual, members []string) string {
	if name := f.m[field]; name != "" {
		return name
	}
	if len(f.m) > 0 && field == "image" {
		return ""
	}
	for _, u := range usual {
		for _, name := range members {
			if _, rest := splitOf(name); rest == u {
				return name
			}
		}
	}
	return ""
}

// openImages opens the array of that name.
func (f *finder) open(group, name string) (*h5file.Dataset, error) {
	path := group + "/" + strings.TrimPrefix(name, "/")
	d, ok, err := f.file.Dataset(path)
	if err == nil && !ok {
		err = fmt.Errorf("%w: there is no such array", formats.ErrSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("array %s: %w", path, err)
	}
	return d, nil
}

// part opens the arrays of a split.
func (f *finder) part(p *part, group, image string, members []string) (err error) {
	if p.image, err = f.open(group, image); err != nil {
		return err
	}
	if p.count = p.image.Rows(); p.count > maxSamples {
		return fmt.Errorf("array %s: %w: %d rows; the limit is %d", image, formats.ErrSchema, p.count, maxSamples)
	}
	if err := checkImages(p.image); err != nil {
		return fmt.Errorf("array %s/%s: %w", group, image, err)
	}
	label := f.named("label", labelNames, members)
	if label != "" {
		if p.label, err = f.open(group, label); err != nil {
			return err
		}
		if p.label.Rows() != p.count {
			return fmt.Errorf("array %s/%s: %w: it has %d rows, the images %d", group, label, formats.ErrSchema, p.label.Rows(), p.count)
		}
	}
	for field, name := range f.m {
		if field != "image" && field != "label" {
			if p.extras[field], err = f.open(group, name); err != nil {
				return err
			}
			if err := checkExtra(p.extras[field], p.count); err != nil {
				return fmt.Errorf("array %s/%s: %w", group, name, err)
			}
		}
	}
	for _, name := range members {
		if name != image && name != label {
			if err := f.extra(p, group, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// extra takes an array that is neither image nor label.
func (f *finder) extra(p *part, group, name string) error {
	_, rest := splitOf(name)
	d, ok, err := f.file.Dataset(group + "/" + name)
	if err == nil && !ok {
		return nil // a group
	}
	if err == nil && slices.Contains(classNames, rest) && d.Rows() != p.count {
		p.classes, err = textsOf(f.file, d)
		return err
	}
	for _, mapped := range f.m {
		if strings.TrimPrefix(mapped, "/") == strings.TrimPrefix(group+"/"+name, "/") {
			return nil
		}
	}
	if err == nil {
		err = checkExtra(d, p.count)
	}
	if err == nil {
		p.extras[foreign.FieldName(rest)] = d
	} else { // others can be read without it
		f.skipped = append(f.skipped, skipped{group + "/" + name, err.Error()})
	}
	return nil
}

// agree compares the parts: they must have the same fields.
func (f *finder) agree() error {
	first := f.parts[0]
	for _, p := range f.parts[1:] {
		if (p.label == nil) != (first.label == nil) || p.label != nil && labelKind(p.label) != labelKind(first.label) {
			return fmt.Errorf("%w: the labels of the splits %q and %q differ", formats.ErrSchema, first.split, p.split)
		}
		for name, d := range first.extras {
			if e := p.extras[name]; e == nil || fieldOf(name, d).Kind != fieldOf(name, e).Kind || fieldOf(name, d).DType != fieldOf(name, e).DType {
				f.drop(name, first.split, p.split)
			}
		}
		for name := range p.extras {
			if first.extras[name] == nil {
				f.drop(name, p.split, first.split)
			}
		}
		if first.classes == nil {
			first.classes = p.classes
		}
	}
	return nil
}

// drop leaves out a field that not all splits have.
func (f *finder) drop(name, split, other string) {
	for _, p := range f.parts {
		delete(p.extras, name)
	}
	f.skipped = append(f.skipped, skipped{split + "/" + name, fmt.Sprintf("the split %q has no such array of that type", other)})
}
