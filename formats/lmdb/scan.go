package lmdb

import (
	"errors"
	"fmt"
	"io"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

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
