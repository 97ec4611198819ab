package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// collection has the samples of the dataset that came from one source.
type collection struct {
	matched int // samples that the source has
	absent  []*pair
	edited  int // of the absent ones, by hand
}

// prune drops the samples that the source lacks, or counts them. It also determines which collection
// the source is: the one of most of its samples, or a new one.
func (a *adder) prune() error {
	collections, err := a.collections()
	if err != nil {
		return err
	}
	a.origin = uint16(min(len(collections), 1<<16-1))
	most, absent := 0, 0
	for origin, c := range collections {
		if c.matched > most {
			a.origin, most = uint16(origin), c.matched
		}
		absent += len(c.absent)
	}
	a.found.Absent = absent
	if !a.o.Prune || absent == 0 {
		return nil
	}
	if most == 0 {
		return fmt.Errorf("%s: --prune: the source has none of the samples of the dataset: is it the right folder, and mounted? dsconv rm removes samples", a.target.path)
	}
	for _, c := range collections {
		switch total := c.matched + len(c.absent); {
		case 2*len(c.absent) <= total:
			a.drop(&c)
		case c.matched > 0:
			return fmt.Errorf("%s: --prune: the source lacks %d of the %d samples that came from it: is it the right folder, and completely mounted? If it is, dsconv rm removes them, or pack it again",
				a.target.path, len(c.absent), total)
		}
	}
	if a.found.Pruned == a.target.Len() && a.found.New == 0 {
		return fmt.Errorf("%s: no sample would be left: delete the dataset instead", a.target.path)
	}
	return nil
}

// collections groups the pairs by the origin of the dataset's sample.
func (a *adder) collections() ([]collection, error) {
	var list []collection
	excludes := func(string) bool { return false }
	if in, ok := a.src.(formats.Incomplete); ok {
		a.unreadable, excludes = in.Unreadable(), in.Excludes
	}
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 {
			continue
		}
		in, err := a.target.Info(int(p.old))
		if err != nil {
			return nil, err
		}
		for len(list) <= int(in.Provenance.Origin) {
			list = append(list, collection{})
		}
		c := &list[in.Provenance.Origin]
		switch {
		case p.src >= 0 || a.unread(in.Source.Path):
			c.matched++
		case !excludes(in.Source.Path):
			c.absent = append(c.absent, p)
			if in.Provenance.Edited != 0 {
				c.edited++
			}
		}
	}
	return list, nil
}

// unread reports whether path is one that could not be read in the source.
func (a *adder) unread(path string) bool {
	return slices.ContainsFunc(a.unreadable, func(u string) bool { return path == u || strings.HasPrefix(path, u+"/") })
}

// drop drops the samples of c that the source lacks, with their edits by hand.
func (a *adder) drop(c *collection) {
	for _, p := range c.absent {
		p.dropped = true
	}
	a.found.Pruned += len(c.absent)
	a.found.Absent -= len(c.absent)
	a.found.Reset += c.edited
}
