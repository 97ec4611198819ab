// Package fields gives samples what they have besides an image and labels: files that belong to the image by their names,
// and annotations.
package fields

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/annotations"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// Set gives samples fields besides the image and the labels: from files beside the images, and from annotations.
type Set struct {
	in     vfs.FS
	memory int64
	places places
	specs  []*spec // of files, those of boxes too
	index  *index
	// found counts the files of each of specs, missing the samples that have none.
	found, missing []int
	orphans        []string // the first file of each of specs that belongs to no sample
	unused         []int
	annotations    []annotations.Annotation
	Auto           bool
}

// Options are those of folder.Config of the same names.
type Options struct {
	Fields, Boxes, Captions []string
	Memory                  int64
}

// Any reports whether samples have more than an image and labels.
func (o *Options) Any() bool {
	none := len(o.Fields) == 1 && o.Fields[0] == None
	return len(o.Fields) > 0 && !none || len(o.Boxes)+len(o.Captions) > 0
}

// Check returns an error if fields or boxes are written wrongly. It looks at no file.
func (o *Options) Check() error {
	if len(o.Fields) != 1 || o.Fields[0] != None && o.Fields[0] != Auto {
		if _, _, err := parseSpecs(o.Fields); err != nil {
			return err
		}
	}
	return new(Set).addAnnotations(o)
}

// New returns the fields of the options, nil if they have none.
func New(in vfs.FS, o *Options) (*Set, error) {
	if !o.Any() {
		return nil, nil
	}
	s := &Set{in: in, memory: o.Memory, Auto: len(o.Fields) == 1 && o.Fields[0] == Auto}
	fields := o.Fields
	if s.Auto || len(fields) == 1 && fields[0] == None {
		fields = nil
	}
	var err error
	if s.places.image, s.specs, err = parseSpecs(fields); err != nil {
		return nil, err
	}
	if err := s.addAnnotations(o); err != nil {
		return nil, err
	}
	s.places.dirs = map[string]bool{}
	s.index = newIndex(s.memory)
	return s, nil
}

// addAnnotations adds what the options name.
func (s *Set) addAnnotations(o *Options) error {
	var coco []string
	boxes := 0
	for _, name := range o.Boxes {
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
		s.annotations = append(s.annotations, annotations.NewCOCOBoxes(coco))
	}
	if boxes > 1 {
		return errors.New("--boxes: give files of COCO, or one pattern of YOLO's or Pascal VOC's files, not both")
	}
	if len(o.Captions) > 0 {
		s.annotations = append(s.annotations, annotations.NewCOCOCaptions(o.Captions))
	}
	return nil
}

// FieldOf returns which field the file at a path belongs to, -1 if none.
func (s *Set) FieldOf(rel string) int {
	for i, f := range s.specs {
		if f.pattern.matches(rel) {
			return i
		}
	}
	return -1
}

// Finish is called when all files are listed.
func (s *Set) Finish(ctx context.Context) error {
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
		if err := a.Open(ctx, s.in); err != nil {
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
func (s *Set) findKey(i int, f *spec) error {
	if !s.places.implicit || !f.pattern.has(keyPart) {
		return nil
	}
	err := s.index.each(i, func(one vfs.File, _ bool) error {
		v, _ := f.pattern.find(one.Path)
		f.wholeKey = s.places.image.re.MatchString(v[keyPart] + ".x")
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return err
}

// expand returns the path of a sample's file, as pattern.expand does.
func (p *spec) expand(v *partValues, f *vfs.File) []string {
	if !p.wholeKey {
		return p.pattern.expand(v)
	}
	whole := *v
	whole[keyPart] = vfs.Stem(f.Path)
	return p.pattern.expand(&whole)
}

// describeArray sets the type and the number of dimensions of an array field by its first file.
func (s *Set) describeArray(i int, f *spec) error {
	err := s.index.each(i, func(one vfs.File, _ bool) error {
		data, err := s.in.Read(one.Path, one.Size, one.ModTime, nil)
		if err != nil {
			return fmt.Errorf("read %s: %w", one.Path, err)
		}
		t, shape, _, err := npy.ParseHeader(data)
		if err != nil {
			return fmt.Errorf("%s: %w", one.Path, err)
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

// Schema returns the fields.
func (s *Set) Schema() formats.Schema {
	var list formats.Schema
	for _, f := range s.specs {
		if f.boxes == nil {
			list = append(list, f.field())
		}
	}
	for _, a := range s.annotations {
		list = append(list, a.Schema()...)
	}
	return list
}

func (f *spec) field() formats.Field {
	field := formats.Field{Name: f.name, Kind: f.kind, DType: f.dtype, Shape: f.shape}
	if f.kind == formats.Boxes {
		field.DType, field.Shape = formats.Float32, []int{-1, 4}
	}
	return field
}

// Claim counts what the sample has of each field.
func (s *Set) Claim(f *vfs.File) {
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
		a.Claim(f)
	}
}

// CountUnused counts the files that belong to no sample.
func (s *Set) CountUnused() error {
	if s == nil {
		return nil
	}
	for i, p := range s.specs {
		err := s.index.each(i, func(one vfs.File, claimed bool) error {
			if !claimed && (p.boxes == nil || !p.boxes.isNames(one.Path)) {
				s.unused[i]++
				s.orphans[i] = cmp.Or(s.orphans[i], one.Path)
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
		if f := a.Summary(); f.Found == 0 {
			return fmt.Errorf("%s: %s has no entry for any image of the folder; it has %d others, such as %q", s.in, f.From, f.Unused, f.Example)
		}
	}
	return nil
}

// nothingFound is the error about a pattern of which no sample has a file.
func (s *Set) nothingFound(i int) error {
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

// Read sets the values of the fields.
func (s *Set) Read(f *vfs.File, image *formats.Value, values []formats.Value) error {
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
		n := len(a.Schema())
		if err := a.Read(f, image, values[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// Identify writes which files the fields of a sample are.
func (s *Set) Identify(f *vfs.File, w io.Writer) error {
	if s == nil {
		return nil
	}
	v := s.places.values(f)
	for i, p := range s.specs {
		one, number, err := s.index.find(i, p.expand(&v, f))
		if number < 0 && !errors.Is(err, errNoFile) {
			return err
		}
		if _, err := fmt.Fprintf(w, "%q %d %d\n", one.Path, one.Size, one.ModTime); err != nil {
			return err
		}
		if number >= 0 && one.ModTime == 0 {
			data, err := s.in.Read(one.Path, one.Size, 0, nil)
			if err != nil {
				return fmt.Errorf("read %s: %w", one.Path, err)
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
	}
	for _, a := range s.annotations {
		if err := a.Identify(f, w); err != nil {
			return err
		}
	}
	return nil
}

// Summaries says what was found.
func (s *Set) Summaries() []annotations.Summary {
	var list []annotations.Summary
	if p := s.places.image; p != nil {
		list = append(list, annotations.Summary{Name: imageField, Kind: formats.Image, From: p.text, Found: s.places.count, Note: s.places.note()})
	}
	for i, p := range s.specs {
		if p.boxes == nil {
			list = append(list, annotations.Summary{
				Name: p.name, Kind: p.kind, From: p.pattern.text,
				Found: s.found[i], Missing: s.missing[i], Unused: s.unused[i], Example: s.orphans[i],
			})
		}
	}
	for _, a := range s.annotations {
		list = append(list, a.Summary())
	}
	return list
}
