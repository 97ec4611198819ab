package fields

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/extsort"
)

// StemFinder finds out which files of one name, up to its first dot, make up samples: Config.Fields with FieldsAuto.
type StemFinder struct {
	sorter *extsort.Sorter
	images map[string]int // samples whose first image has that end of its name
	ends   map[string]int // samples with an image that have another file with that end
}

// firstDot splits a path at the first dot of the name; a dot at the name's start does not count.
func firstDot(rel string) (stem, end string) {
	at := strings.LastIndex(rel, "/") + 1
	if n := strings.IndexByte(rel[min(at+1, len(rel)):], '.'); n >= 0 {
		at = min(at+1, len(rel)) + n
		return rel[:at], rel[at:]
	}
	return rel, ""
}

// maxEnds bounds how many different ends of names are told apart.
const maxEnds = 1000

// NewStemFinder returns an empty StemFinder.
func (s *Set) NewStemFinder() *StemFinder {
	return &StemFinder{sorter: extsort.New("", s.memory/4), images: map[string]int{}, ends: map[string]int{}}
}

// Close frees the memory of the names.
func (f *StemFinder) Close() error { return f.sorter.Close() }

// Add adds a file by its path.
func (f *StemFinder) Add(rel string) error {
	stem, end := firstDot(rel)
	if end == "" {
		return nil
	}
	return f.sorter.Add([]byte(stem), []byte(end))
}

// count counts the ends of the names of samples that have an image.
func (f *StemFinder) count() error {
	var last string
	var ends []string
	finish := func() error {
		if image := mainEnd(ends); image != "" {
			f.images[image]++
			for _, end := range ends {
				if end = foldExtension(end); end != image {
					f.ends[end]++
				}
			}
		}
		ends = ends[:0]
		if len(f.ends) > maxEnds {
			return fmt.Errorf("--field auto: the names of the files have more than %d different ends after their first dot: say with --field NAME=PATTERN which are fields", maxEnds)
		}
		return nil
	}
	err := f.sorter.Each(func(key, value []byte) error {
		if string(key) != last {
			if err := finish(); err != nil {
				return err
			}
			last = string(key)
		}
		if len(ends) <= maxEnds {
			ends = append(ends, string(value))
		}
		return nil
	})
	if err == nil {
		err = finish()
	}
	return err
}

// mainEnd returns which of the ends of one stem is the sample's image: the plain one, or else the first that is not a
// mask's.
func mainEnd(ends []string) string {
	var images []string
	for _, end := range ends {
		if end = foldExtension(end); vfs.IsImageExtension(path.Ext(end)) {
			images = append(images, end)
		}
	}
	slices.SortFunc(images, func(a, b string) int {
		rank := func(end string) int {
			switch {
			case end == ".jpg" || end == ".jpeg":
				return 0
			case strings.Count(end, ".") == 1:
				return 1
			case IsMaskName(end):
				return 3
			}
			return 2
		}
		if r := rank(a) - rank(b); r != 0 {
			return r
		}
		return strings.Compare(a, b)
	})
	if len(images) == 0 {
		return ""
	}
	return images[0]
}

// patterns returns the fields. An image may have different extensions; files of a field have one.
func (f *StemFinder) patterns(in vfs.FS) (*pattern, []*spec, error) {
	var fields []string
	plain := 0
	for end := range f.images {
		if strings.Count(end, ".") == 1 {
			plain++
		}
	}
	imagePattern := "{key}.*"
	if plain == 0 {
		if len(f.images) != 1 {
			return nil, nil, fmt.Errorf("%s: --field auto: it is not clear which file is the image of a sample: those that end in %s? Say it with --field image='{key}...'",
				in, strings.Join(slices.Sorted(maps.Keys(f.images)), ", "))
		}
		for end := range f.images {
			imagePattern = "{key}" + end
		}
	}
	used := map[string]bool{imageField: true}
	for _, end := range slices.Sorted(maps.Keys(f.ends)) {
		name := endName(end)
		if used[name] || f.images[end] > 0 {
			return nil, nil, fmt.Errorf("%s: --field auto: files that end in %s are images of some samples and beside the image of %d others: say with --field NAME='{key}%s' what they are",
				in, end, f.ends[end], end)
		}
		used[name] = true
		fields = append(fields, name+"={key}"+end)
	}
	if len(fields) == 0 {
		return nil, nil, fmt.Errorf("%s: --field auto: no image has a file of the same name beside it", in)
	}
	specs := make([]*spec, len(fields))
	for i, text := range fields {
		spec, err := parseSpec(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--field auto found %s: %w; write it as --field '%s,kind=KIND', and the others too", text, err, text)
		}
		specs[i] = spec
	}
	if plain > 0 {
		return nil, specs, nil
	}
	p, err := parsePattern(imagePattern)
	return p, specs, err
}

// endName is the name of the field of files with that end: a.mask.png is mask, a.txt is text.
func endName(end string) string {
	parts := strings.Split(strings.TrimPrefix(end, "."), ".")
	if len(parts) > 1 {
		return Name(strings.Join(parts[:len(parts)-1], "_"))
	}
	switch parts[0] {
	case "txt":
		return string(formats.Text)
	case "npy":
		return string(formats.Array)
	}
	return Name(parts[0])
}

// UseStems sets the fields of FieldsAuto.
func (s *Set) UseStems(f *StemFinder) error {
	if err := f.count(); err != nil {
		return err
	}
	image, specs, err := f.patterns(s.in)
	if err != nil {
		return err
	}
	s.image = image
	s.specs = append(specs, s.specs...)
	for i, f := range s.specs {
		if f.boxes != nil {
			f.boxes.field = i
		}
	}
	return nil
}
