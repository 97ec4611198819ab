package edit

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// LabelSum returns a checksum of all labels of sample i, whose Info is in, also those that are not in it. An
// interrupted edit is resumed only if they have not changed.
func (u *union) LabelSum(i int, in *formats.Info) int64 {
	it := &u.samples[i]
	p := &u.sources[it.source]
	sum := in.Label
	if d, ok := p.Dataset.(interface {
		LabelSum(i int, in *formats.Info) int64
	}); ok {
		own, err := p.Info(int(it.index))
		if err != nil {
			return formats.NoLabel // reading the sample reports the error
		}
		if s := d.LabelSum(int(it.index), &own); s != own.Label {
			sum = s
		}
	}
	if it.change != nil {
		sum ^= it.change.labelSum(u.meta.Schema)
	}
	return sum
}

// labelSum returns a checksum of the changed labels that are not in Info, 0 if there are none.
func (c *change) labelSum(schema formats.Schema) int64 {
	h := fnv.New64a()
	empty := h.Sum64()
	for _, k := range slices.Sorted(maps.Keys(c.labels)) {
		if k == schema.LabelIndex() && schema[k].Kind == formats.Label {
			continue
		}
		_ = binary.Write(h, binary.LittleEndian, int64(k)) // a hash never fails
		_, _ = h.Write(c.labels[k].Data)
	}
	return int64(h.Sum64() ^ empty)
}
