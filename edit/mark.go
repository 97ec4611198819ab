package edit

import (
	"maps"
	"math/bits"

	"github.com/dsconv/dsconv/formats"
)

// movedMarks gives for each bit of the marks that own describes the bit that meta has for the
// same thing.
func movedMarks(own, meta *formats.Meta, p *part) *[16]uint16 {
	var to [16]uint16
	move := func(from, bit uint16) { to[bits.TrailingZeros16(from)] |= bit }
	move(formats.EditedSplit, formats.EditedSplit)
	for k, j := range p.field {
		move(own.EditedField(j), meta.EditedField(k))
	}
	for k, j := range p.column {
		if j >= 0 {
			move(own.EditedColumn(j), meta.EditedColumn(k))
		}
	}
	return &to
}

// mark is that of a sample of the part, whose own mark it has.
func (p *part) mark(own formats.Provenance) formats.Provenance {
	if p.marks == nil {
		own.Edited = 0
	}
	if p.origin != nil {
		own.Origin = p.origin(own.Origin)
	}
	if own.Edited == 0 || p.same {
		return own
	}
	edited := own.Edited
	own.Edited = 0
	for ; edited != 0; edited &= edited - 1 {
		own.Edited |= p.marks[bits.TrailingZeros16(edited)]
	}
	return own
}

// remember sums up what the union's samples remember, so that the new version keeps it.
func (u *union) remember() error {
	h := formats.History{Removed: len(u.removed)}
	for i := range u.items {
		in, err := u.Info(i)
		if err != nil {
			return err
		}
		if in.Provenance.Edited != 0 {
			h.Edited++
		}
		h.Origins = max(h.Origins, int(in.Provenance.Origin))
	}
	u.meta.History = nil
	if h != (formats.History{}) {
		u.meta.History = &h
	}
	return nil
}

// removedFrom is what was removed from ds by hand.
func removedFrom(ds formats.Dataset) ([]formats.RemovedSample, error) {
	if r, ok := ds.(formats.Removals); ok {
		return r.Removed()
	}
	return nil, nil
}

// edited are the bits of what c sets.
func (c *change) edited(meta *formats.Meta) (bits uint16) {
	if c.split != nil {
		bits |= formats.EditedSplit
	}
	for k := range c.labels {
		bits |= meta.EditedField(k)
	}
	for j := range c.columns {
		bits |= meta.EditedColumn(j)
	}
	return bits
}

// drop takes out of c what those bits stand for, and reports whether there was any.
func (c *change) drop(bits uint16, meta *formats.Meta) (any bool) {
	if c.edited(meta)&bits == 0 {
		return false
	}
	if bits&formats.EditedSplit != 0 {
		c.split = nil
	}
	maps.DeleteFunc(c.labels, func(k int, _ formats.Value) bool { return bits&meta.EditedField(k) != 0 })
	maps.DeleteFunc(c.columns, func(j int, _ string) bool { return bits&meta.EditedColumn(j) != 0 })
	if len(c.labels) == 0 {
		c.labels = nil
	}
	if len(c.columns) == 0 {
		c.columns = nil
	}
	return true
}
