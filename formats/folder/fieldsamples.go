package folder

// listed returns the folders of splits and classes, when all files are known.
func (s *fieldSet) listed() classFolders { return s.places.finish() }

// useLayout returns the layout with the splits and classes that the patterns name; l is that of the folders. order is
// that of the classes.
func (s *fieldSet) useLayout(l layout, order string) (layout, error) {
	if s.places.forces() {
		s.places.force(&l)
		var err error
		if l.names, err = orderClasses(s.in, l.names, order); err != nil {
			return l, err
		}
	}
	s.places.layout = &l
	return l, nil
}

// place returns the path that the key and the classes of an image are made of. ok is false if the image is no sample's.
func (s *fieldSet) place(rel string) (virtual string, ok bool) { return s.places.place(rel) }

// imagePattern is the pattern of the samples' images.
func (s *fieldSet) imagePattern() string { return s.places.image.text }

// mark records a folder with a sample's image. It is for one goroutine at a time.
func (s *fieldSet) mark(dir string) { s.places.mark(dir) }

// add adds a file of a field. It is safe for concurrent use.
func (s *fieldSet) add(field int, f file) error { return s.index.add(field, f) }

// locate sets the path that the key and the class of it are made of.
func (s *fieldSet) locate(f *file) {
	if s == nil {
		return
	}
	if virtual, ok := s.places.place(f.path); ok && virtual != f.path {
		f.virtual = virtual
	}
}

// locateKey is locate for a file with a key that may be that of its path. It returns the key of the sample.
func (s *fieldSet) locateKey(f *file, key string) string {
	if s == nil {
		return key
	}
	s.places.count++
	if !s.places.implicit {
		return key // it is made of the virtual path
	}
	whole := key == f.path
	if s.locate(f); whole {
		return f.place()
	}
	return stem(f.place())
}

func (s *fieldSet) close() error {
	if s == nil {
		return nil
	}
	return s.index.close()
}
