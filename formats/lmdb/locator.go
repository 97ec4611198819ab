package lmdb

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// places are the locations of the values in the environments; wrong is called as by newLocator.
func places(environments []*lmdbfile.Environment, wrong func(*lmdbfile.Environment, error) error) sidecar.Places {
	p := sidecar.Places{Lost: new(bool)}
	p.Locate = func(rows sampleindex.Rows) sampleindex.Rows {
		return func(yield func(r *sampleindex.Row) error) error {
			l, err := newLocator(environments, wrong)
			if err != nil {
				return err
			}
			if err := rows(func(r *sampleindex.Row) error {
				if err := l.locate(r); err != nil {
					return err
				}
				missing := func(at sampleindex.Location) bool { return at == sampleindex.Location{} }
				*p.Lost = *p.Lost || missing(r.Location) || slices.ContainsFunc(r.Fields, missing)
				return yield(r)
			}); err != nil {
				return err
			}
			return l.finish()
		}
	}
	for _, e := range environments {
		p.Stamp = append(p.Stamp, e.Stamp...)
	}
	for _, e := range environments[1:] {
		p.Fields = len(e.Databases)
	}
	return p
}

// refuse and ignore are the wrong of a writer, and of a reader: reading what was not found reports why.
func refuse(e *lmdbfile.Environment, err error) error { return fmt.Errorf("%s: %w", e.Name, err) }
func ignore(*lmdbfile.Environment, error) error       { return nil }

// locator finds where the values of a dataset's samples are, sample by sample in key order.
type locator struct {
	scans [][]*scan // by environment and database; nil if the database cannot be read
}

// newLocator returns the locator of the environments of images and, if there are extra fields, of fields.
// wrong is called with what is wrong with the trees: see scan.
func newLocator(environments []*lmdbfile.Environment, wrong func(*lmdbfile.Environment, error) error) (*locator, error) {
	l := &locator{make([][]*scan, len(environments))}
	for k, e := range environments {
		for db, d := range e.Databases {
			var s *scan
			if d.Err == nil {
				s = newScan(e, db, func(err error) error { return wrong(e, err) })
			} else if err := wrong(e, d.Err); err != nil {
				return nil, err
			}
			l.scans[k] = append(l.scans[k], s)
		}
	}
	return l, nil
}

// locate sets the locations of r, which comes after those of earlier calls: zero for a value that is not
// found. r has the encoding and size of the image.
func (l *locator) locate(r *sampleindex.Row) error {
	r.Fields = r.Fields[:0]
	for k, scans := range l.scans {
		for _, s := range scans {
			var at sampleindex.Location
			if s != nil {
				var err error
				if at, err = s.locate(r.Key); err != nil {
					return err
				}
			}
			if k > 0 {
				r.Fields = append(r.Fields, at)
				continue
			}
			r.Location = at
			if err := s.checkSize(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSize compares the length of the value with the size of the image; of raw pixels a header is stored too.
func (s *scan) checkSize(r *sampleindex.Row) error {
	at := r.Location
	if at.Offset == 0 || at.Length == r.Size || r.Encoding == formats.Raw && at.Length > r.Size {
		return nil
	}
	return s.wrong(fmt.Errorf("%w: the value of key %q has %d bytes, its image %d", formats.ErrDamaged, r.Key, at.Length, r.Size))
}

// finish is called after the last row.
func (l *locator) finish() error {
	for _, scans := range l.scans {
		for _, s := range scans {
			if s == nil {
				continue
			}
			if err := s.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan finds keys that are given in their order, and compares the tree's keys with them.
type scan struct {
	lmdbfile.Cursor
	found bool // node is the next one
	node  lmdbfile.Node
	gap   bool // damaged pages come before node
	// wrong is called with each damaged page, each key that is missing and each that was not asked for.
	// If it returns an error, the scan ends with it.
	wrong func(error) error
}

func newScan(e *lmdbfile.Environment, db int, wrong func(error) error) *scan {
	return &scan{Cursor: *lmdbfile.NewCursor(e, db), wrong: wrong}
}

// locate returns the location of the value of key, which comes after those of earlier calls; zero if the
// tree lacks it.
func (s *scan) locate(key string) (at sampleindex.Location, err error) {
	for {
		more, err := s.advance()
		if err != nil {
			return at, err
		}
		if !more || string(s.node.Key()) > key {
			if s.gap { // it may be there, and wrong knows what is damaged
				return at, nil
			}
			return at, s.wrong(fmt.Errorf("%w: the key %q is missing", formats.ErrDamaged, key))
		}
		if string(s.node.Key()) == key {
			s.found, s.gap = false, false
			if at, err = s.Location(&s.node); err != nil {
				err = s.wrong(err)
			}
			return at, err
		}
		if err := s.skip(); err != nil {
			return at, err
		}
	}
}

// finish is called after the last key.
func (s *scan) finish() error {
	more, err := s.advance()
	if more && err == nil {
		err = s.skip()
	}
	return err
}

// advance reads the next node unless there is one; more is false after the last one.
func (s *scan) advance() (more bool, err error) {
	for !s.found {
		n, err := s.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err == nil {
			s.node, s.found = n, true
			break
		}
		s.gap = true
		if err := s.wrong(err); err != nil {
			return false, err
		}
	}
	return true, nil
}

// skip passes a node whose key nobody asked for.
func (s *scan) skip() error {
	s.found, s.gap = false, false
	return s.wrong(lmdbfile.DamagedPage(s.node.Page, "the key %q is not one of the dataset's", s.node.Key()))
}
