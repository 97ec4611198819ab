package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/internal/extsort"
)

// sourceDiff has the differences between the source list and the present source.
type sourceDiff struct {
	added, removed, changed []string

	touched int // files that differ only in their time, or have none
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
	touched := extsort.New("", p.o.Memory)
	defer func() { err = errors.Join(err, touched.Close()) }()
	d, sameOrder, err := p.compareInOrder(next, touched)
	switch {
	case err != nil:
	case sameOrder && d.touched > 0:
		err = p.compareTouched(touched, d)
	case sameOrder:
	default:
		d, err = p.compareByKey()
	}
	return d, err
}

// compareInOrder compares the source list and the plan position by position; sameOrder is false if their keys
// differ. touched gets the positions before next whose file differs only in its time, or has none.
func (p *Plan) compareInOrder(next int, touched *extsort.Sorter) (d *sourceDiff, sameOrder bool, err error) {
	l, err := openSourceList(p.sourceListPath())
	if err != nil {
		return nil, false, err
	}
	defer l.close()
	d = &sourceDiff{}
	for pos := 0; ; pos++ {
		was, listed, err := l.next()
		if err != nil {
			return nil, false, err
		}
		if !listed && pos == p.Len() {
			if l.layout != p.layout() {
				d.changed = append(d.changed, "the division into files")
			}
			return d, true, nil
		}
		if !listed || pos == p.Len() {
			return nil, false, nil
		}
		now, err := p.entry(pos)
		if err != nil || was.key != now.key {
			return nil, false, err
		}
		if why := was.differs(&now); why != "" {
			d.changed = append(d.changed, now.name()+" ("+why+")")
		} else if (was.modTime != now.modTime || now.modTime == 0) && now.sum == [16]byte{} && pos < next {
			if err := touched.Add([]byte(now.key), presentRecord(pos)); err != nil {
				return nil, false, err
			}
			d.touched++
		}
	}
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
