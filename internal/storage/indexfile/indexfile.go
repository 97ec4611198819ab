// Package indexfile opens the file with a dataset's index, and makes one that is missing.
package indexfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Name is the name of the file in the folder that describes a dataset.
const Name = "index"

// Source is what an index is made from.
type Source struct {
	ID      sampleindex.ID
	Columns []string         // names of the user's columns
	Fields  int              // locations in Row.Fields
	Count   int              // samples
	Rows    sampleindex.Rows // in key order
	// Lost, if not nil, is set by Rows if the data files are damaged so that samples were not found: an
	// index of what is left is not kept.
	Lost *bool
}

// File is an open index and its memory.
type File struct {
	*sampleindex.Index
	mapping *mapped.Mapping
}

// Inside is an index in memory that is someone else's.
func Inside(x *sampleindex.Index) *File { return &File{x, &mapped.Mapping{}} }

// Close unmaps the index.
func (f *File) Close() error { return f.mapping.Close() }

// Open opens the index of s. The dataset was written with an index at path: one that is damaged there, or of something
// else, is an error. One that is missing is made: at path, else in the user's cache, else in a file without a name.
// path is "" if it can only be in the cache.
func Open(path string, s *Source) (*File, error) {
	if path != "" {
		x, err := openAt(path, s)
		if !errors.Is(err, fs.ErrNotExist) {
			return x, err
		}
	}
	if x, err := OpenCached(s); err == nil {
		return x, nil
	}
	return s.make(path, cachePath(s.ID))
}

// Salvage opens the index at path if verify accepts all its bytes, whatever the data files are now: what they
// lack is found when it is read. Otherwise it opens one for the files as they are, of which each page is as it
// was written, or makes one. verify is nil if nobody knows the bytes, path "" if there is no file.
func Salvage(path string, verify func(content []byte) error, s *Source) (*File, error) {
	if verify != nil {
		if x := verified(path, verify, s); x != nil {
			return x, nil
		}
	}
	cached := cachePath(s.ID)
	for _, place := range []string{path, cached} {
		x, err := openAt(place, s)
		if err != nil {
			continue
		}
		if whole(x.Index) {
			return x, nil
		}
		_ = x.Close() // it was only read
	}
	return s.make("", cached)
}

// verified opens the index at path if verify accepts its bytes.
func verified(path string, verify func(content []byte) error, s *Source) *File {
	m, err := mapped.Map(path)
	if err != nil {
		return nil
	}
	var x *sampleindex.Index
	err = guard.Read(m.Data, func() (err error) {
		if err = verify(m.Data); err == nil {
			x, err = sampleindex.Open(m.Data, path)
		}
		return err
	})
	if err != nil || x.Len() != s.Count {
		_ = m.Close() // it was only read
		return nil
	}
	return &File{x, m}
}

// whole reports whether all of the index is as it was written.
func whole(x *sampleindex.Index) bool {
	whole := true
	err := x.Check(context.Background(), func(formats.Damage) { whole = false })
	return err == nil && whole
}

// openAt opens the index at path if it is that of s.
func openAt(path string, s *Source) (*File, error) {
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	x, err := sampleindex.Open(m.Data, path)
	switch {
	case err != nil:
	default:
		err = s.Check(x, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w; dsconv verify --repair makes it again, and so does opening the dataset after the file was removed", err), m.Close())
	}
	return &File{x, m}, nil
}

// Check returns an error if x, which was opened at path, is not the index of s.
func (s *Source) Check(x *sampleindex.Index, path string) error {
	switch {
	case x.ID() != s.ID:
		return fmt.Errorf("%s: %w: it is the index of another dataset or of another version", path, formats.ErrDamaged)
	case x.Len() != s.Count:
		return fmt.Errorf("%s: %w: it has %d samples, the dataset %d", path, formats.ErrDamaged, x.Len(), s.Count)
	}
	return nil
}

// make makes the index in the first place that can be written. Beside the dataset it replaces nothing: what
// is there may be the index of a version that another process has just published.
func (s *Source) make(path, cached string) (*File, error) {
	place, failed := path, errors.New("there is no folder for it")
	if path != "" {
		failed = durable.BuildNew(path, s.buildToKeep)
	}
	if failed != nil && !ofRows(failed) && cached != "" {
		place = cached
		if failed = MakeFolder(cached); failed == nil {
			prune(filepath.Dir(cached), time.Now())
			failed = durable.Build(cached, s.buildToKeep)
		}
	}
	switch {
	case failed == nil:
		x, err := openAt(place, s)
		if err == nil || place != cached {
			return x, err
		}
		failed = err // somebody has emptied the cache
	case ofRows(failed):
		return nil, failed
	}
	x, err := s.unnamed()
	if err != nil {
		return nil, fmt.Errorf("make an index of the dataset: %w", errors.Join(err, failed))
	}
	return x, nil
}

// ofRows reports whether an error is about the rows, and so the same everywhere.
func ofRows(err error) bool {
	return errors.Is(err, formats.ErrDamaged) || errors.Is(err, formats.ErrKey) || errors.Is(err, formats.ErrOrder)
}

func (s *Source) build(f *os.File) error {
	return guard.Do(func() error { return sampleindex.Build(f, s.Columns, s.Fields, s.Rows, s.ID) })
}

// buildToKeep is build of an index that is kept: all samples must be found.
func (s *Source) buildToKeep(f *os.File) error {
	err := s.build(f)
	if err == nil && s.Lost != nil && *s.Lost {
		err = errors.New("samples were not found")
	}
	return err
}

// unnamed makes the index in a file that is gone when it is closed.
func (s *Source) unnamed() (*File, error) {
	f, err := os.CreateTemp("", "dsconv-index")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if err := s.build(f); err != nil {
		return nil, err
	}
	return openAt(f.Name(), s)
}
