package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// admit reports whether a sample that only the source has is added. A sample that was removed by
// hand is not.
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

// keepEdits removes from c, the changes that the source makes to a sample, what was set by hand.
func (a *adder) keepEdits(c *change, old *formats.Info) {
	switch {
	case old.Provenance.Edited == 0:
	case a.o.ResetEdits:
		c.mark = &formats.Provenance{Origin: old.Provenance.Origin}
		a.found.Reset++
	case c.drop(old.Provenance.Edited, &a.union.meta):
		a.found.KeptEdits++
	}
}

// keepEditsOfChanged sets p.change so that a sample whose image changed, and which is taken from the
// source, keeps its edits by hand.
func (a *adder) keepEditsOfChanged(p *pair) error {
	old, err := a.targetSample(p.old).Info(0)
	if err != nil {
		return err
	}
	p.change = &change{mark: &formats.Provenance{Origin: old.Provenance.Origin}}
	switch {
	case old.Provenance.Edited == 0:
		return nil
	case a.o.ResetEdits:
		a.found.Reset++
		return nil
	}
	a.found.KeptEdits++
	p.change.mark.Edited = old.Provenance.Edited
	return a.carryEdits(p.change, p.old, &old, old.Provenance.Edited)
}

// carryEdits sets in c the values that sample i of the target has for the bits of edited; old is the
// sample's Info.
func (a *adder) carryEdits(c *change, i int32, old *formats.Info, edited uint16) error {
	meta := &a.union.meta
	if edited&formats.EditedSplit != 0 {
		c.split = &old.Split
	}
	for j, text := range old.Columns {
		if edited&meta.EditedColumn(j) != 0 {
			c.setColumn(j, text)
		}
	}
	var s formats.Sample
	for k, f := range meta.Schema {
		if edited&meta.EditedField(k) == 0 || !f.Kind.IsLabel() {
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

// targetSample returns a dataset of only sample i of the target, with the new version's fields.
func (a *adder) targetSample(i int32) *union { return a.only(unionSample{source: 0, index: i}) }

// only returns a dataset of those samples with the new version's fields.
func (a *adder) only(samples ...unionSample) *union {
	return &union{meta: a.union.meta, sources: a.union.sources, samples: samples}
}
