package convert

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// sourceDiff has the differences between the source list and the present source.
type sourceDiff struct {
	added, removed, changed []string
	mu                      sync.Mutex // of changed
}

// maxNamed is the most files that an error names.
const maxNamed = 10

func (d *sourceDiff) String() string {
	var parts []string
	named := 0
	for _, g := range []struct {
		what  string
		names []string
	}{{"added", d.added}, {"removed", d.removed}, {"changed", d.changed}} {
		if len(g.names) == 0 {
			continue
		}
		some := g.names[:min(len(g.names), maxNamed-named)]
		named += len(some)
		text := fmt.Sprintf("%d %s", len(g.names), g.what)
		if len(some) > 0 {
			text += ": " + strings.Join(some, ", ")
		}
		if len(some) < len(g.names) {
			text += ", ..."
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// sourceChanges compares the source with the source list of the run that packed the first next
// positions.
func (p *Plan) sourceChanges(next int) (d *sourceDiff, err error) {
	all := extsort.New("", p.o.Memory)
	defer func() { err = errors.Join(err, all.Close()) }()
	layout, err := p.addAll(all)
	if err != nil {
		return nil, err
	}
	d = &sourceDiff{}
	inOrder := true
	reading := new(errgroup.Group) // of files that differ only in their time
	reading.SetLimit(8)
	err = eachKey(all, func(j *joined) error {
		at, n := binary.Uvarint(j.entry)
		inOrder = inOrder && int(at) == j.pos
		j.entry = j.entry[n:]
		return p.compareJoined(d, *j, next, reading)
	})
	if err = errors.Join(err, reading.Wait()); err != nil {
		return nil, err
	}
	slices.Sort(d.added)
	slices.Sort(d.removed)
	slices.Sort(d.changed)
	switch {
	case d.String() != "":
	case !inOrder:
		d.changed = []string{"the order of the samples"}
	case layout != p.layout():
		d.changed = []string{"the division into files"}
	}
	return d, nil
}

// compareJoined adds to d how a sample differs from what the source list has about it. Files before next that differ only in
// their time, or have none, are read by reading.
func (p *Plan) compareJoined(d *sourceDiff, j joined, next int, reading *errgroup.Group) (err error) {
	var was, now sourceEntry
	if len(j.entry) > 0 {
		was, err = readEntry(bufio.NewReader(bytes.NewReader(j.entry)))
	}
	if err == nil && j.pos >= 0 {
		now, err = p.entry(j.pos)
	}
	switch {
	case err != nil:
		return err
	case j.pos < 0:
		d.removed = append(d.removed, was.name())
		return nil
	case len(j.entry) == 0:
		d.added = append(d.added, now.name())
		return nil
	}
	if why := was.differs(&now); why != "" {
		d.addChanged(&now, why)
		return nil
	}
	if was.modTime == now.modTime && now.modTime != 0 || now.sum != [16]byte{} || j.pos >= next {
		return nil
	}
	reading.Go(func() error {
		err := guard.Do(func() error { return p.sameBytes(j.pos, j.hash) })
		if err != nil && !endsRun(err) {
			d.addChanged(&now, err.Error())
			err = nil
		}
		return err
	})
	return nil
}

// addChanged adds a sample that changed. Several goroutines may call it.
func (d *sourceDiff) addChanged(e *sourceEntry, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = append(d.changed, e.name()+" ("+why+")")
}

// differs describes how sample e differs from now, apart from the file's time; "" if it does not.
func (e *sourceEntry) differs(now *sourceEntry) string {
	switch {
	case e.path != now.path:
		return "its path was " + e.path
	case e.size != now.size:
		return fmt.Sprintf("%d bytes, was %d", now.size, e.size)
	case e.sum != now.sum:
		return "other checksum"
	case e.label != now.label && now.label != now.class:
		return "other labels"
	case e.label != now.label:
		return fmt.Sprintf("label %d, was %d", now.label, e.label)
	case e.split != now.split:
		return fmt.Sprintf("split %q, was %q", now.split, e.split)
	case e.columns != now.columns:
		return "other columns"
	case e.ready != now.ready:
		return "comes from another source"
	}
	return ""
}

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

// An unfinished dataset is finished with the samples that it was begun with, also if its source has got more since then.

// ofListedSamples returns the plan that p was when the unfinished dataset was begun: without the samples of the source that
// its source list does not have. It may have other differences from the list. ok is false if p cannot be planned again.
func (p *Plan) ofListedSamples(ctx context.Context) (q *Plan, ok bool, err error) {
	if p.asked == nil {
		return nil, false, nil
	}
	src := &listedSamples{Dataset: p.asked.src}
	both := extsort.New("", p.o.Memory)
	defer func() { err = errors.Join(err, both.Close()) }()
	if _, err := p.addListed(both); err != nil {
		return nil, false, err
	}
	for i := range src.Dataset.Len() {
		in, err := src.Dataset.Info(i)
		if err != nil {
			return nil, false, err
		}
		if err := addPresent(both, in.Key, i); err != nil {
			return nil, false, err
		}
	}
	err = eachKey(both, func(j *joined) error {
		if j.pos < 0 || j.entry == nil {
			return nil
		}
		return src.at.add(j.pos, src.Dataset.Len())
	})
	if err != nil || src.Len() == 0 {
		return nil, false, err
	}
	q, err = New(ctx, src, p.format, p.Path, p.asked.o)
	return q, err == nil, err
}

// asked is what New was called with.
type asked struct {
	src formats.Dataset
	o   Options
}

// listedSamples has some samples of a source.
type listedSamples struct {
	formats.Dataset
	at indexList
}

var (
	_ labelSummer = (*listedSamples)(nil)
	_ filed       = (*listedSamples)(nil)
	_ warner      = (*listedSamples)(nil)
)

func (d *listedSamples) Len() int { return d.at.n }

func (d *listedSamples) Info(i int) (formats.Info, error) { return d.Dataset.Info(d.at.at(i)) }

func (d *listedSamples) Read(i int, s *formats.Sample) error { return d.Dataset.Read(d.at.at(i), s) }

func (d *listedSamples) LabelSum(i int, in *formats.Info) int64 {
	return labelSum(d.Dataset, d.at.at(i), in)
}

func (d *listedSamples) FieldFile(i, k int) string {
	if of, ok := d.Dataset.(filed); ok {
		return of.FieldFile(d.at.at(i), k)
	}
	return ""
}

func (d *listedSamples) Warning(path string) string {
	if of, ok := d.Dataset.(warner); ok {
		return of.Warning(path)
	}
	return ""
}
