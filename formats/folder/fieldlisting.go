package folder

import (
	"context"
	"errors"
	"path"

	"github.com/dsconv/dsconv/formats/labels"
)

// fieldOf returns the field that the file at rel, in the folder of ref, belongs to; -1 if none.
func (s *scan) fieldOf(rel string, ref *folderRef) int {
	if s.names != nil && ref.system == "" {
		s.nameFound(rel)
		return noField
	}
	if s.fields == nil || ref.system != "" {
		return -1
	}
	return s.fields.fieldOf(rel)
}

// noField is what fieldOf returns for a file that is left out.
const noField = 1 << 30

// nameFound gives a file's path to the finder of stems.
func (s *scan) nameFound(rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filter.IncludesFile(rel) || !isImageExtension(path.Ext(rel)) {
		s.err = errors.Join(s.err, s.names.add(rel))
	}
}

// fieldFile adds a file of a field. One that cannot be read is missing, which reading its sample reports.
func (s *scan) fieldFile(field int, f file, regular bool, err error) {
	switch {
	case field == noField:
		return
	case err != nil:
		s.leaveOut(f.path, whyUnread(f.path, err))
		return
	case !regular || f.size > maxFile:
		s.leaveOut(f.path, "not a regular file, or too large")
		return
	}
	if err := s.fields.index.add(field, f); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	}
}

// placed returns the files that are images of samples, and records their folders.
func (s *scan) placed(files []file) []file {
	if s.fields == nil {
		return files
	}
	kept, last := files[:0], "\x00"
	for _, f := range files {
		virtual, ok := s.fields.places.place(f.path)
		if !ok {
			s.leaveOut(f.path, "it is no file of --field image="+s.fields.places.image.text)
			continue
		}
		if virtual != f.path {
			f.virtual = virtual
		}
		kept = append(kept, f)
		if dir := path.Dir(virtual); dir != last {
			s.mu.Lock()
			s.fields.places.mark(dir)
			s.mu.Unlock()
			last = dir
		}
	}
	return kept
}

// askAbout finds out whether a file that is no image belongs to one.
func (s *scan) askAbout(rel string) {
	if err := s.found.askAbout(rel); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	}
}

// listed is called when all files are known, before their classes are.
func (s *fieldSet) listed(ctx context.Context, in *scan) error {
	if s == nil {
		return nil
	}
	in.classes = s.places.finish()
	return s.finish(ctx)
}

// useFields sets the splits and classes that the patterns name.
func (d *Dataset) useFields(cfg *Config) error {
	if d.fields == nil {
		return nil
	}
	l, ok := d.source.(*labeler)
	if !ok {
		return nil
	}
	d.firstField = len(l.schema())
	return d.fields.useLayout(l, cfg)
}

// useLayout makes the layout of l that of the patterns.
func (s *fieldSet) useLayout(l *labeler, cfg *Config) (err error) {
	forced := l.layout
	if s.places.force(&forced); !s.places.forces() {
		s.places.layout = &l.layout
		return nil
	}
	order := cfg.ClassOrder
	if cfg.Labels != "" {
		order = ""
	}
	if forced.names, err = orderClasses(s.in, forced.names, order); err != nil {
		return err
	}
	l.layout, l.index = forced, labels.IndexOf(forced.names)
	s.places.layout = &l.layout
	return nil
}

// locate sets the path that the key and the class of it are made of.
func (s *fieldSet) locate(it *sample) {
	if s == nil {
		return
	}
	if virtual, ok := s.places.place(it.path); ok && virtual != it.path {
		it.virtual = virtual
	}
}

// locateKey is locate for a sample whose key may be that of its path.
func (s *fieldSet) locateKey(it *sample) {
	if s == nil {
		return
	}
	s.places.count++
	if !s.places.implicit {
		return // the key is made of the virtual path
	}
	whole := it.key == it.path
	s.locate(it)
	if it.key = it.place(); !whole {
		it.key = stem(it.place())
	}
}

func (s *fieldSet) close() error {
	if s == nil {
		return nil
	}
	return s.index.close()
}

// Fields says what was found for the fields of Config.Fields, Boxes and Captions.
func (d *Dataset) Fields() []FieldSummary {
	if d.fields == nil {
		return nil
	}
	return d.fields.summaries()
}
