package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// comesIn reports whether a sample that only the source has is to be added: one that was
// removed by hand is not.
func (a *adder) admit(now *formats.Info) bool {
	i, removed := a.removals.find(now)
	switch {
	case !removed:
	case a.o.ResetEdits:
		a.removals.restored[i] = true
		a.found.Reset++
	default:
		a.found.KeptOut++
		return false
	}
	a.found.New++
	return true
}

// keepEdits takes out of c, which is what the source says of a sample, what was set by hand.
func (a *adder) keepEdits(c *change, old *formats.Info) {
	switch {
	case old.Mark.Edited == 0:
	case a.o.ResetEdits:
		c.mark = &formats.Mark{Origin: old.Mark.Origin}
		a.found.Reset++
	case c.drop(old.Mark.Edited, &a.union.meta):
		a.found.KeptEdits++
	}
}

// keepOfChanged notes in p, whose image is another one now and comes from the source with all
// else, what is to stay.
func (a *adder) keepEditsOfChanged(p *pair) error {
	old, err := a.targetSample(p.old).Info(0)
	if err != nil {
		return err
	}
	p.change = &change{mark: &formats.Mark{Origin: old.Mark.Origin}}
	switch {
	case old.Mark.Edited == 0:
		return nil
	case a.o.ResetEdits:
		a.found.Reset++
		return nil
	}
	a.found.KeptEdits++
	p.change.mark.Edited = old.Mark.Edited
	return a.carryEdits(p.change, p.old, &old, old.Mark.Edited)
}

// carryEdits sets in c what edited stands for as sample i of the target has it; old is what is
// known of that.
func (a *adder) carryEdits(c *change, i int32, old *formats.Info, edited uint16) error {
	meta := &a.union.meta
	if edited&formats.MarkSplit != 0 {
		c.split = &old.Split
	}
	for j, text := range old.Columns {
		if edited&meta.MarkColumn(j) != 0 {
			if c.columns == nil {
				c.columns = map[int]string{}
			}
			c.columns[j] = text
		}
	}
	var s formats.Sample
	for k, f := range meta.Schema {
		if edited&meta.MarkField(k) == 0 || !f.Kind.IsLabel() {
			continue
		}
		if k == meta.Schema.LabelIndex() && f.Kind == formats.Label {
			c.setLabel(k, old.Label)
			continue
		}
		if s.Values == nil {
			if err := a.targetSample(i).Read(0, &s); err != nil {
				return fmt.Errorf("keep labels: %w", err)
			}
		}
		c.set(k, s.Values[k])
	}
	return nil
}

// old is a dataset of sample i of the target alone, as the new version sees it.
func (a *adder) targetSample(i int32) *union {
	return &union{meta: a.union.meta, sources: a.union.sources, samples: []unionSample{{source: 0, index: i}}}
}
