package edit

import (
	"errors"
	"fmt"
	"strings"
)

// collection is what is known of the samples of one origin.
type collection struct {
	matched int // the source has them
	absent  []*pair
}

// prune drops the samples that the source lacks, or counts them. It also finds out which
// collection the source is: the one that most of its samples belong to, or else a new one.
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
	if !a.o.Prune && !a.o.PruneAll || absent == 0 {
		return nil
	}
	if most == 0 && !a.o.PruneAll {
		return errors.New("--prune: the source has none of the dataset's samples: is it the right folder, and mounted? --prune-all drops them all the same")
	}
	for _, c := range collections {
		switch total := c.matched + len(c.absent); {
		case a.o.PruneAll || 2*len(c.absent) <= total:
			a.dropPairs(c.absent)
		case c.matched > 0:
			return fmt.Errorf("--prune: the source lacks %d of %d samples that came from it: is it the right folder, and mounted as a whole? --prune-all drops them all the same",
				len(c.absent), total)
		}
	}
	if a.found.Pruned == a.target.Len() && a.found.New == 0 {
		return errors.New("nothing would be left: remove the dataset itself instead")
	}
	return nil
}

// collections sorts the pairs by the origin of the dataset's sample.
func (a *adder) collections() ([]collection, error) {
	var list []collection
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 {
			continue
		}
		in, err := a.target.Info(int(p.old))
		if err != nil {
			return nil, err
		}
		for len(list) <= int(in.Mark.Origin) {
			list = append(list, collection{})
		}
		c := &list[in.Mark.Origin]
		switch {
		case p.src >= 0 || a.unread(in.Source.Path):
			c.matched++
		case a.o.Excluded == nil || !a.o.Excluded(in.Source.Path):
			c.absent = append(c.absent, p)
		}
	}
	return list, nil
}

// unread reports whether the source may have that path where it could not be looked at.
func (a *adder) unread(path string) bool {
	for _, u := range a.o.Unread {
		if path == u || strings.HasPrefix(path, u+"/") {
			return true
		}
	}
	return false
}

func (a *adder) dropPairs(absent []*pair) {
	for _, p := range absent {
		p.dropped = true
	}
	a.found.Pruned += len(absent)
	a.found.Absent -= len(absent)
}
