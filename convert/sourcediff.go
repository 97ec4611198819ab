package convert

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/guard"
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
