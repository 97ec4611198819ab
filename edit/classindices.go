package edit

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// appendClasses appends the names in more that are not in names. The old names keep their indices.
func appendClasses(names, more []string) []string {
	have := labels.IndexOf(names)
	for _, name := range more {
		if _, ok := have[name]; !ok {
			have[name] = int64(len(names))
			names = append(names, name)
		}
	}
	return names
}

// mapClasses returns the index in to of each class of from, NoLabel for a class that is not there. It
// returns nil if all indices are equal.
func mapClasses(from, to []string) []int64 {
	index := labels.IndexOf(to)
	moved := make([]int64, len(from))
	same := true
	for i, name := range from {
		at, ok := index[name]
		if !ok {
			at = formats.NoLabel
		}
		moved[i] = at
		same = same && moved[i] == int64(i)
	}
	if same {
		return nil
	}
	return moved
}

// mapLabel converts the label v of a source's sample to the union's classes in field k.
func (u *union) mapLabel(p *unionSource, k int, v *formats.Value) error {
	switch f := &u.meta.Schema[k]; {
	case f.Kind == formats.Label && p.classes[k] != nil:
		x, ok := v.Int64()
		if !ok || x >= int64(len(p.classes[k])) {
			return fmt.Errorf("%w: the label is not the index of a class", formats.ErrDamaged)
		}
		if x >= 0 {
			v.SetInt64(p.classes[k][x])
		}
	case f.Kind == formats.MultiHot && (p.classes[k] != nil || len(v.Data) != len(f.Classes)):
		hot := make([]byte, len(f.Classes))
		for i, x := range v.Data {
			to := int64(i)
			if p.classes[k] != nil && i < len(p.classes[k]) {
				to = p.classes[k][i]
			}
			if x == 0 {
				continue
			}
			if to < 0 || to >= int64(len(hot)) {
				return fmt.Errorf("%w: the value has %d classes, the field has %d", formats.ErrDamaged, len(v.Data), len(hot))
			}
			hot[to] = x
		}
		v.Set(formats.Value{Data: hot, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{len(hot)}})
	}
	return nil
}
