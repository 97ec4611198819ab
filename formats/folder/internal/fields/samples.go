package fields

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// UseLayout returns the layout with the splits and classes that the patterns name; l is that of the folders. order is
// that of the classes.
func (s *Set) UseLayout(l layout.Layout, order string) (layout.Layout, error) {
	if p := s.image; p != nil && (p.has(splitPart) || p.has(classPart)) {
		s.force(&l)
		var err error
		if l.Names, err = layout.Order(s.in, l.Names, order); err != nil {
			return l, err
		}
	}
	s.layout = &l
	return l, nil
}

// Add adds a file of a field. It is safe for concurrent use.
func (s *Set) Add(field int, f vfs.File) error { return s.index.add(field, f) }

// Locate sets the path that the key and the class of a sample are made of.
func (s *Set) Locate(f *vfs.File) {
	if s == nil {
		return
	}
	if virtual, ok := s.Place(f.Path); ok && virtual != f.Path {
		f.Virtual = virtual
	}
}

// LocateKey is Locate for a file with a key that may be that of its path. It returns the key of the sample.
func (s *Set) LocateKey(f *vfs.File, key string) string {
	if s == nil {
		return key
	}
	s.count++
	if !s.implicit {
		return key // it is made of the virtual path
	}
	whole := key == f.Path
	if s.Locate(f); whole {
		return f.Place()
	}
	return vfs.ImageStem(f.Place())
}

// Claim counts what the sample has of each field.
func (s *Set) Claim(f *vfs.File) {
	if s == nil {
		return
	}
	if len(s.voters) < maxVoters {
		s.voters = append(s.voters, *f)
	}
	v := s.values(f)
	for i, p := range s.specs {
		_, number, err := s.index.find(i, p.expand(&v, f))
		switch {
		case number >= 0:
			s.index.claimed[number/64] |= 1 << (number % 64)
			p.found++
		case errors.Is(err, errNoFile):
			p.missing++
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
			if !claimed && (p.boxes == nil || !isClassNames(one.Path)) {
				p.unused++
				p.orphan = cmp.Or(p.orphan, one.Path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if p.found == 0 {
			return s.nothingFound(p)
		}
	}
	for _, a := range s.annotations {
		if err := a.Claimed(); err != nil {
			return fmt.Errorf("%s: %w", s.in, err)
		}
		f := a.Summary()
		switch {
		case f.Found == 0 && f.Why != "":
			return fmt.Errorf("%s: no image of the folder can have its entry of %s: %s", s.in, f.From, f.Why)
		case f.Found == 0:
			return fmt.Errorf("%s: %s has no entry for any image of the folder; it has %d others, such as %q", s.in, f.From, f.Unused, f.Example)
		}
	}
	return nil
}

// nothingFound is the error about a pattern of which no sample has a file.
func (s *Set) nothingFound(p *spec) error {
	text := "no file has this form"
	if p.unused > 0 {
		text = fmt.Sprintf("%d files have this form, such as %s, but they belong to no image", p.unused, p.orphan)
	}
	flag := "--field " + p.name + "="
	if p.boxes != nil {
		flag = "--boxes "
	}
	within, hint := "", ""
	if s.image != nil {
		within = " in " + s.image.text
	} else {
		hint = s.hint()
	}
	return fmt.Errorf("%s: %s%s: %s; {key} is an image's path without extension%s, {stem} its name%s",
		s.in, flag, p.pattern.text, text, within, hint)
}

// Read sets the values of the fields.
func (s *Set) Read(f *vfs.File, image *formats.Value, values []formats.Value) error {
	v := s.values(f)
	picture := pictureOf(image)
	var warnings []string
	warn := func(warning string) {
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	for i, p := range s.files() {
		err := s.readFile(i, p.expand(&v, f), &values[i])
		if err == nil {
			var warning string
			warning, err = s.toStored(i, &picture, &values[i])
			warn(warning)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", p.name, err)
		}
	}
	at := len(s.files())
	for k, a := range s.annotations {
		n := len(a.Schema())
		warning, err := s.annotate(k, f, picture, values[at:at+n])
		if err != nil {
			return err
		}
		warn(warning)
		at += n
	}
	if len(warnings) > 0 {
		s.warnings.Store(f.Path, strings.Join(warnings, "; "))
	}
	return nil
}

// File returns the path of the file that is the value of field k of a sample, counted from the first of Schema; "" if there
// is none, or the field is one of annotations.
func (s *Set) File(f *vfs.File, k int) string {
	if k >= len(s.files()) {
		return ""
	}
	v := s.values(f)
	if file, _, err := s.index.find(k, s.specs[k].expand(&v, f)); err == nil {
		return file.Path
	}
	return ""
}

// Warning returns what was found to be doubtful when the fields of the image at a path were read, "" if nothing was.
func (s *Set) Warning(rel string) string {
	if s == nil {
		return ""
	}
	warning, _ := s.warnings.Load(rel)
	text, _ := warning.(string)
	return text
}

// Identify writes which files the fields of a sample are.
func (s *Set) Identify(f *vfs.File, w io.Writer) error {
	if s == nil {
		return nil
	}
	v := s.values(f)
	for i, p := range s.specs {
		one, number, err := s.index.find(i, p.expand(&v, f))
		if number < 0 && !errors.Is(err, errNoFile) {
			return err
		}
		if _, err := fmt.Fprintf(w, "%q %d %d\n", one.Path, one.Size, one.ModTime); err != nil {
			return err
		}
		if number < 0 {
			continue
		}
		if err := one.Identify(s.in, w); err != nil {
			return err
		}
	}
	for _, a := range s.annotations {
		if err := a.Identify(f, w); err != nil {
			return err
		}
	}
	return nil
}

// Annotated returns the files of boxes and of captions, with the folders that they were found to be for; nil for those
// that the options have as patterns.
func (s *Set) Annotated() (boxes, captions []string) {
	for _, a := range s.annotations {
		if f := a.Summary(); f.Name == boxesField {
			boxes = f.Files
		} else {
			captions = f.Files
		}
	}
	return boxes, captions
}

// summary says what was found for a field of files.
func (p *spec) summary() Summary {
	return Summary{Name: p.name, Kind: p.kind, From: p.pattern.text, Found: p.found, Missing: p.missing, Unused: p.unused, Example: p.orphan}
}

// Summaries says what was found.
func (s *Set) Summaries() []Summary {
	var list []Summary
	if p := s.image; p != nil {
		list = append(list, Summary{Name: imageField, Kind: formats.Image, From: p.text, Found: s.count})
		if s.implicit {
			list[0].Note = "all images are there, so this folder is no class"
		}
	}
	for _, p := range s.files() {
		list = append(list, p.summary())
	}
	for _, a := range s.annotations {
		list = append(list, a.Summary())
	}
	return list
}
