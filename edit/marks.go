package edit

import (
	"maps"
	"math/bits"

	"github.com/dsconv/dsconv/formats"
)

// mapMarks returns, for each bit of a mark in the dataset own, the bit of the same field or column
// in meta.
func mapMarks(own, meta *formats.Meta, p *unionSource) *[16]uint16 {
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

// mapMark converts the mark of a sample of p to the union's bits and origins.
func (p *unionSource) mapMark(own formats.Provenance) formats.Provenance {
	if p.marks == nil {
		own.Edited = 0
	}
	if p.origin != nil {
		own.Origin = p.origin(own.Origin)
	}
	if own.Edited == 0 || p.identical {
		return own
	}
	edited := own.Edited
	own.Edited = 0
	for ; edited != 0; edited &= edited - 1 {
		own.Edited |= p.marks[bits.TrailingZeros16(edited)]
	}
	return own
}

// countEdits sets the union's History from the marks of its samples.
func (u *union) countEdits() error {
	h := formats.History{Removed: len(u.removed)}
	for i := range u.samples {
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

// edited returns the mark bits of the fields and columns that c sets.
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

// drop removes from c the fields and columns of those bits, and reports whether there were any.
func (c *change) drop(bits uint16, meta *formats.Meta) (any bool) {
	if c.edited(meta)&bits == 0 {
		return false
	}
	if bits&formats.EditedSplit != 0 {
		c.split = nil
	}
	maps.DeleteFunc(c.labels, func(k int, _ formats.Value) bool { return bits&meta.EditedField(k) != 0 })
	maps.DeleteFunc(c.columns, func(j int, _ string) bool { return bits&meta.EditedColumn(j) != 0 })
	return true
}
