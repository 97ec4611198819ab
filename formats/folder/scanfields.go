package folder

import (
	"context"
	"errors"
	"path"
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
	if err := s.fields.add(field, f); err != nil {
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
		virtual, ok := s.fields.place(f.path)
		if !ok {
			s.leaveOut(f.path, "it is no file of --field image="+s.fields.imagePattern())
			continue
		}
		if virtual != f.path {
			f.virtual = virtual
		}
		kept = append(kept, f)
		if dir := path.Dir(virtual); dir != last {
			s.mu.Lock()
			s.fields.mark(dir)
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

// findStems lists the folder for the fields whose patterns are found out: those of FieldsAuto.
func (s *scan) findStems(ctx context.Context) (err error) {
	if s.fields == nil || !s.fields.auto {
		return nil
	}
	f := s.fields.newStemFinder()
	defer func() { err = errors.Join(err, f.close()) }()
	names := &scan{in: s.in, filter: s.filter, found: &foundFiles{}, system: s.system, names: f}
	if err := names.walk(ctx); err != nil {
		return err
	}
	s.system.counts = map[string]int{} // the scan that follows counts again
	return s.fields.useStems(f)
}
