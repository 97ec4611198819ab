package manifest

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/wire"
)

// AppendRows appends the encoding of row from and all later rows to b.
func (t *Manifest) AppendRows(b []byte, from int) []byte {
	b = binary.AppendUvarint(b, uint64(t.Len()-from))
	for i := from; i < t.Len(); i++ {
		r := t.rowAt(i)
		b = sampleindex.AppendRow(b, &r, t.hasProvenance)
	}
	return b
}

// TakeRows appends to t the rows that AppendRows encoded. The caller checks whether c failed.
func (t *Manifest) TakeRows(c *wire.Cursor) error {
	for range c.Length(1) {
		r, err := sampleindex.TakeRow(c, len(t.Columns), t.hasProvenance)
		if err != nil {
			return err
		}
		if err := t.Append(&r); err != nil {
			return err
		}
	}
	return nil
}
