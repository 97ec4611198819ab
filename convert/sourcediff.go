package convert

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// sourceDiff has the differences between the source list and the present source.
type sourceDiff struct {
	added, removed, changed []string
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
// positions. It returns a description of the changes, "" if there are none.
func (p *Plan) sourceChanges(next int) (string, error) {
	d, touched, err := p.compareInOrder(next)
	if err != nil {
		return "", err
	}
	if err := p.compareTouched(touched, d); err != nil {
		return "", err
	}
	return d.String(), nil
}

// compareInOrder compares the source list and the plan position by position. touched has the
// positions before next whose file differs only in its time.
func (p *Plan) compareInOrder(next int) (d *sourceDiff, touched []int, err error) {
	l, err := openSourceList(p.sourceListPath())
	if err != nil {
		return nil, nil, err
	}
	defer l.close()
	d = &sourceDiff{}
	for pos := 0; ; pos++ {
		was, listed, err := l.next()
		if err != nil {
			return nil, nil, err
		}
		if !listed && pos == len(p.order) {
			if l.layout != p.layout() {
				d.changed = append(d.changed, "the division into files")
			}
			return d, touched, nil
		}
		if !listed || pos == len(p.order) {
			break
		}
		now, err := p.entry(pos)
		if err != nil {
			return nil, nil, err
		}
		if was.key != now.key {
			break
		}
		if why := was.differs(&now); why != "" {
			d.changed = append(d.changed, now.name()+" ("+why+")")
		} else if was.modTime != now.modTime && now.sum == [16]byte{} && pos < next {
			touched = append(touched, pos)
		}
	}
	d, err = p.compareByKey()
	return d, nil, err
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
	case e.label != now.label && e.label != now.class && now.label != now.class:
		return "other labels"
	case e.label != now.label && e.label != now.class:
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

// compareByKey compares a source in which samples were added or removed.
func (p *Plan) compareByKey() (*sourceDiff, error) {
	d := &sourceDiff{}
	l, err := openSourceList(p.sourceListPath())
	if err != nil {
		return nil, err
	}
	defer l.close()
	old := map[string]sourceEntry{}
	for {
		e, listed, err := l.next()
		if err != nil {
			return nil, err
		}
		if !listed {
			break
		}
		old[e.key] = e
	}
	for pos := range p.order {
		now, err := p.entry(pos)
		if err != nil {
			return nil, err
		}
		was, ok := old[now.key]
		delete(old, now.key)
		if !ok {
			d.added = append(d.added, now.name())
		} else if why := was.differs(&now); why != "" {
			d.changed = append(d.changed, now.name()+" ("+why+")")
		}
	}
	for _, e := range old {
		d.removed = append(d.removed, e.name())
	}
	slices.Sort(d.added)
	slices.Sort(d.removed)
	if d.String() == "" {
		d.changed = []string{"the order of the samples"}
	}
	return d, nil
}

// compareTouched adds those samples at the positions touched to d whose bytes differ from what was
// packed.
func (p *Plan) compareTouched(touched []int, d *sourceDiff) error {
	if len(touched) == 0 {
		return nil
	}
	packed, err := p.packedHashes(touched)
	if err != nil {
		return err
	}
	var g errgroup.Group
	var mu sync.Mutex
	g.SetLimit(8)
	for k, pos := range touched {
		g.Go(func() error {
			var why string
			err := guard.Do(func() error { return p.sameBytes(pos, packed[k], &why) })
			if pixel.EndsRun(err) {
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
	}
	err = g.Wait()
	slices.Sort(d.changed)
	return err
}

// packedHashes returns the hashes of the source files of the samples at those positions when they
// were packed; the hash of a skipped sample is zero.
func (p *Plan) packedHashes(positions []int) ([][16]byte, error) {
	byKey := make(map[string]int, len(positions))
	for k, pos := range positions {
		in, err := p.src.Info(int(p.order[pos]))
		if err != nil {
			return nil, err
		}
		byKey[in.Key] = k
	}
	hashes := make([][16]byte, len(positions))
	return hashes, staging.EachUnfinished(p.Path, func(r *sampleindex.Row) error {
		if k, ok := byKey[r.Key]; ok {
			hashes[k] = r.Source.Hash
		}
		return nil
	})
}

// sameBytes sets why if the source file of the sample at pos does not have that hash.
func (p *Plan) sameBytes(pos int, hash [16]byte, why *string) error {
	var s formats.Sample
	if err := p.src.Read(int(p.order[pos]), &s); err != nil {
		return err
	}
	if checksum.Hash(s.Values[p.src.Meta().Schema.ImageIndex()].Data) != hash {
		*why = "other bytes"
	}
	return nil
}
