package sampleindex

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
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
	case in.Label != r.Label:
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
