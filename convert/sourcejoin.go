package convert

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// The plan's samples and what an earlier run has about them come together in a Sorter by key. The first byte
// of its values tells them apart.
const (
	present = 'p'
	earlier = 'e'
)

// presentRecord is the value of the plan's sample at a position.
func presentRecord(pos int) []byte { return binary.AppendUvarint([]byte{present}, uint64(pos)) }

// eachKey calls yield for each key in s: pos is the position in the plan, or -1; record is what the earlier run
// has about it, or nil.
func eachKey(s *extsort.Sorter, yield func(pos int, record []byte) error) error {
	var last, record []byte
	pos := -1
	end := func() error {
		if pos < 0 && record == nil {
			return nil // before the first key
		}
		err := yield(pos, record)
		pos, record = -1, nil
		return err
	}
	err := s.Each(func(key, value []byte) error {
		if !bytes.Equal(key, last) {
			if err := end(); err != nil {
				return err
			}
			last = append(last[:0], key...)
		}
		if value[0] == earlier {
			record = bytes.Clone(value[1:])
			return nil
		}
		x, _ := binary.Uvarint(value[1:])
		pos = int(x)
		return nil
	})
	if err == nil {
		err = end()
	}
	return err
}

// compareByKey compares a source in which samples were added or removed.
func (p *Plan) compareByKey() (d *sourceDiff, err error) {
	both := extsort.New("", p.o.Memory)
	defer func() { err = errors.Join(err, both.Close()) }()
	if err := p.addEntries(both); err != nil {
		return nil, err
	}
	d = &sourceDiff{}
	err = eachKey(both, func(pos int, record []byte) error {
		return p.compareEntry(d, pos, record)
	})
	slices.Sort(d.added)
	slices.Sort(d.removed)
	if d.String() == "" {
		d.changed = []string{"the order of the samples"}
	}
	return d, err
}

// compareEntry adds to d how the sample at pos differs from the earlier run's record.
func (p *Plan) compareEntry(d *sourceDiff, pos int, record []byte) (err error) {
	var was, now sourceEntry
	if record != nil {
		if was, err = readEntry(bufio.NewReader(bytes.NewReader(record))); err != nil {
			return err
		}
	}
	if pos < 0 {
		d.removed = append(d.removed, was.name())
		return nil
	}
	if now, err = p.entry(pos); err != nil {
		return err
	}
	if record == nil {
		d.added = append(d.added, now.name())
	} else if why := was.differs(&now); why != "" {
		d.changed = append(d.changed, now.name()+" ("+why+")")
	}
	return nil
}

// addEntries adds the samples of the source list and of the plan to s.
func (p *Plan) addEntries(s *extsort.Sorter) error {
	if err := p.addListed(s); err != nil {
		return err
	}
	for pos := range p.Len() {
		in, err := p.infoAt(pos)
		if err != nil {
			return err
		}
		if err := s.Add([]byte(in.Key), presentRecord(pos)); err != nil {
			return err
		}
	}
	return nil
}

// addListed adds the samples of the source list to s.
func (p *Plan) addListed(s *extsort.Sorter) error {
	l, err := openSourceList(p.sourceListPath())
	if err != nil {
		return err
	}
	defer l.close()
	for {
		e, listed, err := l.next()
		if err != nil {
			return err
		}
		if !listed {
			return nil
		}
		if err := s.Add([]byte(e.key), e.append([]byte{earlier})); err != nil {
			return err
		}
	}
}

// compareTouched adds those samples of touched to d whose bytes differ from what was packed.
func (p *Plan) compareTouched(touched *extsort.Sorter, d *sourceDiff) error {
	if err := staging.EachUnfinished(p.Path, func(r *sampleindex.Row) error {
		return touched.Add([]byte(r.Key), append([]byte{earlier}, r.Source.Hash[:]...))
	}); err != nil {
		return err
	}
	var g errgroup.Group
	var mu sync.Mutex
	g.SetLimit(8)
	err := eachKey(touched, func(pos int, record []byte) error {
		if pos < 0 {
			return nil
		}
		var packed [16]byte // of a skipped sample it is zero
		copy(packed[:], record)
		g.Go(func() error {
			var why string
			err := guard.Do(func() error { return p.sameBytes(pos, packed, &why) })
			if endsRun(err) {
				return err
			}
			if err != nil {
				why = err.Error()
			}
			if why == "" {
				return nil
			}
			e, err := p.entry(pos)
			mu.Lock()
			defer mu.Unlock()
			d.changed = append(d.changed, e.name()+" ("+why+")")
			return err
		})
		return nil
	})
	err = errors.Join(err, g.Wait())
	slices.Sort(d.changed)
	return err
}

// sameBytes sets why if the source file of the sample at pos does not have that hash.
func (p *Plan) sameBytes(pos int, hash [16]byte, why *string) error {
	var s formats.Sample
	if err := p.src.Read(p.order.at(pos), &s); err != nil {
		return err
	}
	if checksum.Hash(s.Values[p.src.Meta().Schema.ImageIndex()].Data) != hash {
		*why = "other bytes"
	}
	return nil
}
