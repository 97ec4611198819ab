package foreign

import (
	"cmp"
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// renamed sorts the samples again, with keys that are not repeated: those that have a unique one take it where the key
// is repeated, all others get the name of their file before it.
func (s *Scan) renamed(f *found) (again *found, err error) {
	sorter := extsort.New("", sortMemory)
	err = f.each(func(one *Sample, repeated bool) error {
		s.rename(one, repeated)
		if err := formats.CheckKey(one.Key); err != nil {
			return s.Skip(cmp.Or(one.Path, one.Key), err.Error())
		}
		return s.put(sorter, one)
	})
	if err = errors.Join(err, f.close()); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	return s.count(sorter, true)
}

// rename gives a sample its new key.
func (s *Scan) rename(one *Sample, repeated bool) {
	switch stem := s.source.Files[one.File].Stem + "/"; {
	case one.Unique != "":
		if repeated {
			one.Key, one.Path = one.Unique, ""
		}
	default:
		if one.Key = stem + one.Key; one.Path != "" {
			one.Path = stem + one.Path
		}
	}
}
