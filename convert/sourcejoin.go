package convert

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// The plan's samples and what an earlier run has about them come together in a Sorter by key. The first byte
// of its values tells them apart.
const (
	present = 'p' // the position in the plan
	listed  = 'l' // the entry of the source list
	written = 'w' // the hash of the file that was packed
)

// joined is what is known of one key.
type joined struct {
	pos   int      // in the plan, or -1
	entry []byte   // of the source list: its position, and what sourceEntry.append appended; or nil
	hash  [16]byte // zero if no sample was written
}

// addPresent adds the sample of that key at a position.
func addPresent(s *extsort.Sorter, key string, pos int) error {
	return s.Add([]byte(key), binary.AppendUvarint([]byte{present}, uint64(pos)))
}

// eachKey calls yield for each key in s.
func eachKey(s *extsort.Sorter, yield func(j *joined) error) error {
	var last []byte
	j := joined{pos: -1}
	end := func() (err error) {
		if j.pos >= 0 || j.entry != nil { // else it is before the first key
			err = yield(&j)
		}
		j = joined{pos: -1}
		return err
	}
	err := s.Each(func(key, value []byte) error {
		if !bytes.Equal(key, last) {
			if err := end(); err != nil {
				return err
			}
			last = append(last[:0], key...)
		}
		switch value[0] {
		case listed:
			j.entry = bytes.Clone(value[1:])
		case written:
			copy(j.hash[:], value[1:])
		default:
			x, _ := binary.Uvarint(value[1:])
			j.pos = int(x)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	return err
}

// addListed adds the samples of the source list to s, and returns the division into files that it has.
func (p *Plan) addListed(s *extsort.Sorter) (layout uint64, err error) {
	l, err := openSourceList(p.sourceListPath())
	if err != nil {
		return 0, err
	}
	defer l.close()
	for pos := uint64(0); ; pos++ {
		e, more, err := l.next()
		if err != nil || !more {
			return l.layout, err
		}
		if err := s.Add([]byte(e.key), e.append(binary.AppendUvarint([]byte{listed}, pos))); err != nil {
			return 0, err
		}
	}
}

// addAll adds the samples of the source list, of the plan and of the unfinished dataset to s.
func (p *Plan) addAll(s *extsort.Sorter) (layout uint64, err error) {
	if layout, err = p.addListed(s); err != nil {
		return 0, err
	}
	for pos := range p.Len() {
		in, err := p.infoAt(pos)
		if err == nil {
			err = addPresent(s, in.Key, pos)
		}
		if err != nil {
			return 0, err
		}
	}
	return layout, staging.EachUnfinished(p.Path, func(r *sampleindex.Row) error {
		return s.Add([]byte(r.Key), append([]byte{written}, r.Source.Hash[:]...))
	})
}

// sameBytes returns an error unless the source file of the sample at pos has that hash.
func (p *Plan) sameBytes(pos int, hash [16]byte) error {
	var s formats.Sample
	if err := p.src.Read(p.order.at(pos), &s); err != nil {
		return err
	}
	if checksum.Hash(s.Values[p.src.Meta().Schema.ImageIndex()].Data) != hash {
		return errors.New("other bytes")
	}
	return nil
}
