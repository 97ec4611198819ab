package sampleindex

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// Compare returns an error unless the row of sample i is r, apart from locations if located is not set. It
// names the first thing that differs.
func (x *Index) Compare(i int, r *Row, located bool) error {
	e, err := x.At(i)
	if err != nil {
		return err
	}
	in, err := x.Info(i)
	if err != nil {
		return err
	}
	label := r.Label
	if x.labels.length > 0 {
		if label, err = x.listedLabel(i); err != nil {
			return err
		}
	}
	var fields []Location
	for k := range x.fields {
		fields = append(fields, e.Field(k))
	}
	what := ""
	switch {
	case in.Key != r.Key:
		what = "key"
	case in.Split != r.Split:
		what = "split"
	case in.Label != r.Label || label != r.Label:
		what = "label"
	case in.Size != r.Size || in.Encoding != r.Encoding || in.Shape != r.Shape:
		what = "size, encoding or shape"
	case in.Checksum != r.Checksum:
		what = "checksum"
	case in.Source != r.Source:
		what = "source"
	case !slices.Equal(in.Columns, r.Columns):
		what = "columns"
	case in.Provenance != r.Provenance:
		what = "edits"
	case located && (e.Location() != r.Location || !slices.Equal(fields, r.Fields)):
		what = "location"
	default:
		return nil
	}
	return fmt.Errorf("%s: %w: sample %d, key %q: its %s is another one in the manifest", x.name, formats.ErrDamaged, i, in.Key, what)
}

// listedLabel returns the label of sample i among those that Labels lends.
func (x *Index) listedLabel(i int) (label int64, err error) {
	at := x.labels.at + 8*int64(i)
	b, err := x.use(at, at+8)
	if err != nil {
		return 0, err
	}
	err = guard.Read(b, func() error {
		label = int64(binary.LittleEndian.Uint64(b))
		return nil
	})
	return label, err
}
