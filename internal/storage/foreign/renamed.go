package foreign

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// renamed sorts the samples again, with keys that are not repeated: those that have a unique one take it where the key
// is repeated, all others get the name of their file before it.
func (s *Scan) renamed(f *found) (again *found, err error) {
	defer func() { err = errors.Join(err, f.close()) }()
	sorter := extsort.New("", sortMemory)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	add := func(one *Sample, repeated bool) error {
		s.rename(one, repeated)
		if err := formats.CheckKey(one.Key); err != nil {
			return s.Skip(cmp.Or(one.Path, one.Key), err.Error())
		}
		s.key = binary.BigEndian.AppendUint32(append(append(s.key[:0], one.Key...), 0), uint32(one.File))
		s.record = appendSample(s.record[:0], one)
		return sorter.Add(s.key, s.record)
	}
	var before string // the key before held's
	var held Sample
	have := false
	err = f.spool.each(func(one *Sample) error {
		next, first := held, !have
		held, *one, have = *one, Sample{}, true
		if first {
			return nil
		}
		key := next.Key
		err := add(&next, key == before || key == held.Key)
		before = key
		return err
	})
	if err == nil && have {
		err = add(&held, held.Key == before)
	}
	if err != nil {
		return nil, err
	}
	return s.collect(sorter, true)
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
