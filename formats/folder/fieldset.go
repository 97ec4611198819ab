package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// fieldSet gives samples fields besides the image and the labels: from files beside the images, and from annotations.
type fieldSet struct {
	in     filesystem
	memory int64
	places samplePlaces
	specs  []*fieldSpec // of files, those of boxes too
	index  *fieldIndex
	// found counts the files of each of specs, missing the samples that have none.
	found, missing []int
	orphans        []string // the first file of each of specs that belongs to no sample
	unused         []int
	annotations    []annotation
	auto           bool
}

// annotation gives samples the values of one or more fields.
type annotation interface {
	schema() formats.Schema
	// open is called when the files of the folder are known.
	open(ctx context.Context, s *fieldSet) error
	// read sets the values of its fields. image is the sample's image.
	read(s *fieldSet, it *sample, image *formats.Value, values []formats.Value) error
	// claim counts a sample; it is for one goroutine.
	claim(it *sample)
	// identify writes what the values of a sample depend on.
	identify(s *fieldSet, it *sample, w io.Writer) error
	summaries(s *fieldSet) []FieldSummary
}

// FieldSummary says what was found for a field of Config.Fields, Boxes or Captions.
type FieldSummary struct {
	Name string       `json:"name"`
	Kind formats.Kind `json:"kind"`
	From string       `json:"from"` // the pattern, or the file of annotations
	// Found counts the files or the entries for images, Missing the samples without one, and Unused the files and
	// entries that belong to no sample, of which Example is one.
	Found   int    `json:"found"`
	Missing int    `json:"missing,omitempty"`
	Unused  int    `json:"unused,omitempty"`
	Example string `json:"example,omitempty"`
	// Note says what else was found out, such as which classes the boxes have.
	Note string `json:"note,omitempty"`
}

// hasFields reports whether the Config gives samples more than an image and labels.
func (c *Config) hasFields() bool {
	none := len(c.Fields) == 1 && c.Fields[0] == FieldsNone
	return len(c.Fields) > 0 && !none || len(c.Boxes)+len(c.Captions) > 0
}

// CheckFields returns an error if Fields or Boxes are written wrongly. It looks at no file.
func (c Config) CheckFields() error {
	if len(c.Fields) != 1 || c.Fields[0] != FieldsNone && c.Fields[0] != FieldsAuto {
		if _, _, err := parseFieldSpecs(c.Fields); err != nil {
			return err
		}
	}
	return new(fieldSet).addAnnotations(&c)
}

// newFieldSet returns the fields of cfg, nil if it has none.
func newFieldSet(in filesystem, cfg *Config) (*fieldSet, error) {
	if !cfg.hasFields() {
		return nil, nil
	}
	if IsDescription(cfg.Labels) {
		return nil, fmt.Errorf("%s already describes the fields: leave out --field, --boxes and --captions", cfg.Labels)
	}
	s := &fieldSet{in: in, memory: cmp.Or(cfg.Memory, defaultMemory), auto: len(cfg.Fields) == 1 && cfg.Fields[0] == FieldsAuto}
	fields := cfg.Fields
	if s.auto || len(fields) == 1 && fields[0] == FieldsNone {
		fields = nil
	}
	var err error
	if s.places.image, s.specs, err = parseFieldSpecs(fields); err != nil {
		return nil, err
	}
	if err := s.addAnnotations(cfg); err != nil {
		return nil, err
	}
	s.places.dirs = map[string]bool{}
	s.index = newFieldIndex(s.memory)
	return s, nil
}

// fieldOf returns which field the file at a path belongs to, -1 if none.
func (s *fieldSet) fieldOf(rel string) int {
	for i, f := range s.specs {
		if f.pattern.matches(rel) {
			return i
		}
	}
	return -1
}

// finish is called when all files are listed.
func (s *fieldSet) finish(ctx context.Context) error {
	if err := s.index.finish(s.memory); err != nil {
		return err
	}
	n := len(s.specs)
	s.found, s.missing, s.unused, s.orphans = make([]int, n), make([]int, n), make([]int, n), make([]string, n)
	for i, f := range s.specs {
		if err := s.findKey(i, f); err != nil {
			return err
		}
	}
	for _, a := range s.annotations {
		if err := a.open(ctx, s); err != nil {
			return err
		}
	}
	for i, f := range s.specs {
		if f.kind != formats.Array {
			continue
		}
		if err := s.describeArray(i, f); err != nil {
			return err
		}
	}
	return nil
}

// errFirst ends a loop after the first file.
var errFirst = errors.New("the first is enough")

// findKey finds out whether a field's files have the folder of the images in their {key}: images/1.txt of {key}.txt.
func (s *fieldSet) findKey(i int, f *fieldSpec) error {
	if !s.places.implicit || !f.pattern.has(keyPart) {
		return nil
	}
	err := s.index.each(i, func(one file, _ bool) error {
		v, _ := f.pattern.find(one.path)
		f.wholeKey = s.places.image.re.MatchString(v[keyPart] + ".x")
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return err
}

// expand returns the path of a sample's file, as fieldPattern.expand does.
func (f *fieldSpec) expand(v *partValues, it *sample) []string {
	if !f.wholeKey {
		return f.pattern.expand(v)
	}
	whole := *v
	whole[keyPart] = stem(it.path)
	return f.pattern.expand(&whole)
}

// describeArray sets the type and the number of dimensions of an array field by its first file.
func (s *fieldSet) describeArray(i int, f *fieldSpec) error {
	err := s.index.each(i, func(one file, _ bool) error {
		data, err := s.in.read(one.path, one.size, one.modTime, nil)
		if err != nil {
			return fmt.Errorf("read %s: %w", one.path, err)
		}
		t, shape, _, err := npy.ParseHeader(data)
		if err != nil {
			return fmt.Errorf("%s: %w", one.path, err)
		}
		f.dtype, f.shape = t, make([]int, len(shape))
		for k := range shape {
			f.shape[k] = -1
		}
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return err
}

// schema returns the fields.
func (s *fieldSet) schema() formats.Schema {
	var list formats.Schema
	for _, f := range s.specs {
		if f.boxes == nil {
			list = append(list, f.field())
		}
	}
	for _, a := range s.annotations {
		list = append(list, a.schema()...)
	}
	return list
}

func (f *fieldSpec) field() formats.Field {
	field := formats.Field{Name: f.name, Kind: f.kind, DType: f.dtype, Shape: f.shape}
	if f.kind == formats.Boxes {
		field.DType, field.Shape = formats.Float32, []int{-1, 4}
	}
	return field
}

// claim counts what the sample has of each field.
func (s *fieldSet) claim(it *sample) {
	if s == nil {
		return
	}
	v := s.places.values(it)
	for i, f := range s.specs {
		_, number, err := s.index.find(i, f.expand(&v, it))
		switch {
		case number >= 0:
			s.index.claim(number)
			s.found[i]++
		case errors.Is(err, errNoFile):
			s.missing[i]++
		}
	}
	for _, a := range s.annotations {
		a.claim(it)
	}
}

// countUnused counts the files that belong to no sample.
func (s *fieldSet) countUnused() error {
	if s == nil {
		return nil
	}
	for i, f := range s.specs {
		err := s.index.each(i, func(one file, claimed bool) error {
			if !claimed && (f.boxes == nil || !f.boxes.isNames(one.path)) {
				s.unused[i]++
				s.orphans[i] = cmp.Or(s.orphans[i], one.path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if s.found[i] == 0 {
			return s.nothingFound(i)
		}
	}
	for _, a := range s.annotations {
		for _, f := range a.summaries(s) {
			if f.Found == 0 {
				return fmt.Errorf("%s: %s has no entry for any image of the folder; it has %d others, such as %q", s.in, f.From, f.Unused, f.Example)
			}
		}
	}
	return nil
}

// nothingFound is the error about a pattern of which no sample has a file.
func (s *fieldSet) nothingFound(i int) error {
	f := s.specs[i]
	text := "no file has this form"
	if s.unused[i] > 0 {
		text = fmt.Sprintf("%d files have this form, such as %s, but they belong to no image", s.unused[i], s.orphans[i])
	}
	flag := "--field " + f.name + "="
	if f.boxes != nil {
		flag = "--boxes "
	}
	return fmt.Errorf("%s: %s%s: %s; {key} is an image's path without extension%s, {stem} its name%s",
		s.in, flag, f.pattern.text, text, s.places.keyNote(), s.places.hint())
}

// read sets the values of the fields.
func (s *fieldSet) read(it *sample, image *formats.Value, values []formats.Value) error {
	v := s.places.values(it)
	at := 0
	for i, f := range s.specs {
		if f.boxes != nil {
			continue
		}
		if err := s.readFile(i, f.expand(&v, it), &values[at]); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
		at++
	}
	for _, a := range s.annotations {
		n := len(a.schema())
		if err := a.read(s, it, image, values[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// identify writes which files the fields of a sample are.
func (s *fieldSet) identify(it *sample, w io.Writer) error {
	if s == nil {
		return nil
	}
	v := s.places.values(it)
	for i, f := range s.specs {
		one, number, err := s.index.find(i, f.expand(&v, it))
		if number < 0 && !errors.Is(err, errNoFile) {
			return err
		}
		if _, err := fmt.Fprintf(w, "%q %d %d\n", one.path, one.size, one.modTime); err != nil {
			return err
		}
		if number >= 0 && one.modTime == 0 {
			data, err := s.in.read(one.path, one.size, 0, nil)
			if err != nil {
				return fmt.Errorf("read %s: %w", one.path, err)
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
	}
	for _, a := range s.annotations {
		if err := a.identify(s, it, w); err != nil {
			return err
		}
	}
	return nil
}

// summaries says what was found.
func (s *fieldSet) summaries() []FieldSummary {
	var list []FieldSummary
	if p := s.places.image; p != nil {
		list = append(list, FieldSummary{Name: imageField, Kind: formats.Image, From: p.text, Found: s.places.count, Note: s.places.note()})
	}
	for i, f := range s.specs {
		if f.boxes == nil {
			list = append(list, FieldSummary{
				Name: f.name, Kind: f.kind, From: f.pattern.text,
				Found: s.found[i], Missing: s.missing[i], Unused: s.unused[i], Example: s.orphans[i],
			})
		}
	}
	for _, a := range s.annotations {
		list = append(list, a.summaries(s)...)
	}
	return list
}
