package fields

import (
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Folders returns the folders of splits and classes, when all files are known.
func (s *Set) Folders() layout.Folders { return s.places.finish() }

// UseLayout returns the layout with the splits and classes that the patterns name; l is that of the folders. order is
// that of the classes.
func (s *Set) UseLayout(l layout.Layout, order string) (layout.Layout, error) {
	if s.places.forces() {
		s.places.force(&l)
		var err error
		if l.Names, err = layout.Order(s.in, l.Names, order); err != nil {
			return l, err
		}
	}
	s.places.layout = &l
	return l, nil
}

// Place returns the path that the key and the classes of an image are made of. ok is false if the image is no sample's.
func (s *Set) Place(rel string) (virtual string, ok bool) { return s.places.place(rel) }

// ImagePattern is the pattern of the samples' images.
func (s *Set) ImagePattern() string { return s.places.image.text }

// Mark records a folder with a sample's image. It is for one goroutine at a time.
func (s *Set) Mark(dir string) { s.places.mark(dir) }

// Add adds a file of a field. It is safe for concurrent use.
func (s *Set) Add(field int, f vfs.File) error { return s.index.add(field, f) }

// Locate sets the path that the key and the class of it are made of.
func (s *Set) Locate(f *vfs.File) {
	if s == nil {
		return
	}
	if virtual, ok := s.places.place(f.Path); ok && virtual != f.Path {
		f.Virtual = virtual
	}
}

// LocateKey is locate for a file with a key that may be that of its path. It returns the key of the sample.
func (s *Set) LocateKey(f *vfs.File, key string) string {
	if s == nil {
		return key
	}
	s.places.count++
	if !s.places.implicit {
		return key // it is made of the virtual path
	}
	whole := key == f.Path
	if s.Locate(f); whole {
		return f.Place()
	}
	return vfs.Stem(f.Place())
}

func (s *Set) Close() error {
	if s == nil {
		return nil
	}
	return s.index.close()
}
