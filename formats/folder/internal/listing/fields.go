package listing

import (
	"context"
	"errors"
	"path"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// fieldOf returns the field that the file at rel, in the folder of ref, belongs to; -1 if none.
func (s *Scan) fieldOf(rel string, ref *folderRef) int {
	if s.names != nil && ref.system == "" {
		s.nameFound(rel)
		return noField
	}
	if s.fields == nil || ref.system != "" {
		return -1
	}
	return s.fields.FieldOf(rel)
}

// noField is what fieldOf returns for a file that is left out.
const noField = 1 << 30

// nameFound gives a file's path to the finder of stems.
func (s *Scan) nameFound(rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filter.IncludesFile(rel) || !vfs.IsImageExtension(path.Ext(rel)) {
		s.err = errors.Join(s.err, s.names.Add(rel))
	}
}

// fail keeps an error, which ends the scan; nil is none.
func (s *Scan) fail(err error) {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	}
}

// fieldFile adds a file of a field. One that cannot be read is missing, which reading its sample reports.
func (s *Scan) fieldFile(field int, f vfs.File, regular bool, err error) {
	switch {
	case field == noField:
	case err != nil:
		s.leaveOut(f.Path, whyUnread(f.Path, err))
	case !regular || f.Size > vfs.MaxFile:
		s.leaveOut(f.Path, "not a regular file, or too large")
	default:
		s.fail(s.fields.Add(field, f))
	}
}

// placed returns the files that are images of samples, and records their folders.
func (s *Scan) placed(files []vfs.File) []vfs.File {
	if s.fields == nil {
		return files
	}
	kept, last := files[:0], "\x00"
	for _, f := range files {
		virtual, ok := s.fields.Place(f.Path)
		if !ok {
			s.leaveOut(f.Path, "it is no file of --field image="+s.fields.ImagePattern())
			continue
		}
		if virtual != f.Path {
			f.Virtual = virtual
		}
		kept = append(kept, f)
		if dir := path.Dir(virtual); dir != last {
			s.mu.Lock()
			s.fields.Mark(dir)
			s.mu.Unlock()
			last = dir
		}
	}
	return kept
}

// FindStems lists the folder for the fields whose patterns are found out: those of fields.Auto.
func (s *Scan) FindStems(ctx context.Context) (err error) {
	if s.fields == nil || !s.fields.Auto {
		return nil
	}
	f := s.fields.NewStemFinder()
	defer func() { err = errors.Join(err, f.Close()) }()
	names := &Scan{in: s.in, filter: s.filter, found: &Files{}, System: s.System, Progress: s.Progress, names: f}
	if err := names.Walk(ctx); err != nil {
		return err
	}
	s.System.Counts = map[string]int{} // the scan that follows counts again
	return s.fields.UseStems(f)
}
