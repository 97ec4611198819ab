package lmdb

import "github.com/dsconv/dsconv/internal/storage/sampleindex"

// locator finds where the values of a dataset's samples are, sample by sample in key order.
type locator struct {
	environments []*environment
	scans        [][]*scan // by environment and database; nil if the database cannot be read
}

// newLocator returns the locator of the environments of images and, if there are extra fields, of fields.
// wrong is called with what is wrong with the trees: see scan.
func newLocator(environments []*environment, wrong func(*environment, error) error) (*locator, error) {
	l := &locator{environments: environments, scans: make([][]*scan, len(environments))}
	for k, e := range environments {
		for db, d := range e.databases {
			var s *scan
			if d.err == nil {
				s = newScan(e, db, func(err error) error { return wrong(e, err) })
			} else if err := wrong(e, d.err); err != nil {
				return nil, err
			}
			l.scans[k] = append(l.scans[k], s)
		}
	}
	return l, nil
}

// locate sets the locations of r, which comes after those of earlier calls: zero for a value that is not
// found.
func (l *locator) locate(r *sampleindex.Row) error {
	r.Location, r.Fields = sampleindex.Location{}, r.Fields[:0]
	for k, scans := range l.scans {
		for _, s := range scans {
			var at sampleindex.Location
			if s != nil {
				var err error
				if at, err = s.locate(r.Key); err != nil {
					return err
				}
			}
			if k == 0 {
				r.Location = at
			} else {
				r.Fields = append(r.Fields, at)
			}
		}
	}
	return nil
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
