package edit

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// LabelSum stands for all labels of sample i, also those that Info does not tell: an edit that was
// interrupted goes on only where they are what they were.
func (u *union) LabelSum(i int) int64 {
	it := &u.samples[i]
	p := &u.sources[it.source]
	in, err := u.Info(i)
	if err != nil {
		return formats.NoLabel // reading it says what is wrong
	}
	sum := in.Label
	if d, ok := p.Dataset.(interface{ LabelSum(i int) int64 }); ok {
		own, err := p.Info(int(it.index))
		if s := d.LabelSum(int(it.index)); err == nil && s != own.Label {
			sum = s
		}
	}
	if it.change != nil {
		sum ^= it.change.labelSum(u.meta.Schema)
	}
	return sum
}

// labelSum is a checksum of the labels that Info does not tell, 0 without one.
func (c *change) labelSum(schema formats.Schema) int64 {
	h := fnv.New64a()
	empty := h.Sum64()
	for _, k := range slices.Sorted(maps.Keys(c.labels)) {
		if k == schema.LabelIndex() && schema[k].Kind == formats.Label {
			continue
		}
		_ = binary.Write(h, binary.LittleEndian, int64(k)) // a hash takes all
		_, _ = h.Write(c.labels[k].Data)
	}
	return int64(h.Sum64() ^ empty)
}
