package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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

// fieldOptions are those of folder.Config of the same names.
type fieldOptions struct {
	fields, boxes, captions []string
	memory                  int64
}

// any reports whether samples have more than an image and labels.
func (o *fieldOptions) any() bool {
	none := len(o.fields) == 1 && o.fields[0] == fieldsNone
	return len(o.fields) > 0 && !none || len(o.boxes)+len(o.captions) > 0
}

// check returns an error if fields or boxes are written wrongly. It looks at no file.
func (o *fieldOptions) check() error {
	if len(o.fields) != 1 || o.fields[0] != fieldsNone && o.fields[0] != fieldsAuto {
		if _, _, err := parseFieldSpecs(o.fields); err != nil {
			return err
		}
	}
	return new(fieldSet).addAnnotations(o)
}

// newFieldSet returns the fields of the options, nil if they have none.
func newFieldSet(in filesystem, o *fieldOptions) (*fieldSet, error) {
	if !o.any() {
		return nil, nil
	}
	s := &fieldSet{in: in, memory: o.memory, auto: len(o.fields) == 1 && o.fields[0] == fieldsAuto}
	fields := o.fields
	if s.auto || len(fields) == 1 && fields[0] == fieldsNone {
		fields = nil
	}
	var err error
	if s.places.image, s.specs, err = parseFieldSpecs(fields); err != nil {
		return nil, err
	}
	if err := s.addAnnotations(o); err != nil {
		return nil, err
	}
	s.places.dirs = map[string]bool{}
	s.index = newFieldIndex(s.memory)
	return s, nil
}

// addAnnotations adds what the options name.
func (s *fieldSet) addAnnotations(o *fieldOptions) error {
	var coco []string
	boxes := 0
	for _, name := range o.boxes {
		if !strings.Contains(name, "{") {
			coco = append(coco, name)
			continue
		}
		b, err := newBoxFiles(s, name)
		if err != nil {
			return err
		}
		boxes++
		b.field = len(s.specs)
		s.specs = append(s.specs, b.spec)
		s.annotations = append(s.annotations, b)
	}
	if len(coco) > 0 {
		boxes++
		s.annotations = append(s.annotations, newCOCOBoxes(coco))
	}
	if boxes > 1 {
		return errors.New("--boxes: give files of COCO, or one pattern of YOLO's or Pascal VOC's files, not both")
	}
	if len(o.captions) > 0 {
		s.annotations = append(s.annotations, newCOCOCaptions(o.captions))
	}
	return nil
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
		if err := a.open(ctx, s.in); err != nil {
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
func (p *fieldSpec) expand(v *partValues, f *file) []string {
	if !p.wholeKey {
		return p.pattern.expand(v)
	}
	whole := *v
	whole[keyPart] = stem(f.path)
	return p.pattern.expand(&whole)
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
func (s *fieldSet) claim(f *file) {
	if s == nil {
		return
	}
	v := s.places.values(f)
	for i, p := range s.specs {
		_, number, err := s.index.find(i, p.expand(&v, f))
		switch {
		case number >= 0:
			s.index.claim(number)
			s.found[i]++
		case errors.Is(err, errNoFile):
			s.missing[i]++
		}
	}
	for _, a := range s.annotations {
		a.claim(f)
	}
}

// countUnused counts the files that belong to no sample.
func (s *fieldSet) countUnused() error {
	if s == nil {
		return nil
	}
	for i, p := range s.specs {
		err := s.index.each(i, func(one file, claimed bool) error {
			if !claimed && (p.boxes == nil || !p.boxes.isNames(one.path)) {
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
		if f := a.summary(); f.found == 0 {
			return fmt.Errorf("%s: %s has no entry for any image of the folder; it has %d others, such as %q", s.in, f.from, f.unused, f.example)
		}
	}
	return nil
}

// nothingFound is the error about a pattern of which no sample has a file.
func (s *fieldSet) nothingFound(i int) error {
	p := s.specs[i]
	text := "no file has this form"
	if s.unused[i] > 0 {
		text = fmt.Sprintf("%d files have this form, such as %s, but they belong to no image", s.unused[i], s.orphans[i])
	}
	flag := "--field " + p.name + "="
	if p.boxes != nil {
		flag = "--boxes "
	}
	return fmt.Errorf("%s: %s%s: %s; {key} is an image's path without extension%s, {stem} its name%s",
		s.in, flag, p.pattern.text, text, s.places.keyNote(), s.places.hint())
}

// read sets the values of the fields.
func (s *fieldSet) read(f *file, image *formats.Value, values []formats.Value) error {
	v := s.places.values(f)
	at := 0
	for i, p := range s.specs {
		if p.boxes != nil {
			continue
		}
		if err := s.readFile(i, p.expand(&v, f), &values[at]); err != nil {
			return fmt.Errorf("field %s: %w", p.name, err)
		}
		at++
	}
	for _, a := range s.annotations {
		n := len(a.schema())
		if err := a.read(f, image, values[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// identify writes which files the fields of a sample are.
func (s *fieldSet) identify(f *file, w io.Writer) error {
	if s == nil {
		return nil
	}
	v := s.places.values(f)
	for i, p := range s.specs {
		one, number, err := s.index.find(i, p.expand(&v, f))
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
		if err := a.identify(f, w); err != nil {
			return err
		}
	}
	return nil
}

// summaries says what was found.
func (s *fieldSet) summaries() []annSummary {
	var list []annSummary
	if p := s.places.image; p != nil {
		list = append(list, annSummary{name: imageField, kind: formats.Image, from: p.text, found: s.places.count, note: s.places.note()})
	}
	for i, p := range s.specs {
		if p.boxes == nil {
			list = append(list, annSummary{
				name: p.name, kind: p.kind, from: p.pattern.text,
				found: s.found[i], missing: s.missing[i], unused: s.unused[i], example: s.orphans[i],
			})
		}
	}
	for _, a := range s.annotations {
		list = append(list, a.summary())
	}
	return list
}
