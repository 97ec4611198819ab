package manifest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// AppendRows appends the encoding of row from and all later rows to b.
func (t *Manifest) AppendRows(b []byte, from int) []byte {
	b = binary.AppendUvarint(b, uint64(t.Len()-from))
	for i := from; i < t.Len(); i++ {
		b = t.appendRow(b, i)
	}
	return b
}

// TakeRows appends to t the rows that AppendRows encoded. The caller checks whether c failed.
func (t *Manifest) TakeRows(c *wire.Cursor) error {
	for range c.Length(1) {
		r := takeRow(c, len(t.Columns), t.hasProvenance)
		if c.Failed {
			break
		}
		if err := checkRow(&r); err != nil {
			return err
		}
		if err := t.Append(&r); err != nil {
			return err
		}
	}
	return nil
}

// checkRow rejects values that no writer writes to a journal.
func checkRow(r *Row) error {
	if err := formats.CheckKey(r.Key); err != nil {
		return fmt.Errorf("a checkpoint: %w: %w", formats.ErrDamaged, err)
	}
	if err := checkStoredSplit(r.Split); err != nil {
		return fmt.Errorf("a checkpoint: key %q: %w", r.Key, err)
	}
	for _, n := range r.Shape {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("a checkpoint: key %q: %w: impossible shape %v", r.Key, formats.ErrDamaged, r.Shape)
		}
	}
	at := r.Location
	if r.Size < 0 || at.Shard < 0 || at.Shard > math.MaxInt32 || at.Offset < 0 || at.Length < 0 {
		return fmt.Errorf("a checkpoint: key %q: %w: impossible location: an image of %d bytes in a record of %d bytes at byte %d of file %d",
			r.Key, formats.ErrDamaged, r.Size, at.Length, at.Offset, at.Shard)
	}
	return nil
}

func (t *Manifest) appendRow(b []byte, i int) []byte {
	r := t.rows.at(i)
	b = wire.AppendBytes(b, t.key(r))
	b = wire.AppendBytes(b, t.splits[r.split])
	b = wire.AppendBytes(b, t.encodings[r.encoding])
	b = wire.AppendBytes(b, t.path(r))
	for _, x := range []int64{
		r.label, int64(r.shard), r.offset, r.length, int64(r.shape[0]), int64(r.shape[1]), int64(r.shape[2]), r.size,
		r.srcSize, r.mod,
	} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	b = append(b, r.checksum[:]...)
	b = append(b, r.hash[:]...)
	for j := range t.user {
		b = wire.AppendBytes(b, t.user[j].at(i))
	}
	if t.hasProvenance {
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Edited)
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Origin)
	}
	return b
}

// takeRow reads what appendRow wrote.
func takeRow(c *wire.Cursor, columns int, marked bool) Row {
	var r Row
	r.Key, r.Split, r.Encoding = string(c.Bytes()), string(c.Bytes()), formats.Encoding(c.Bytes())
	r.Source.Path = string(c.Bytes())
	r.Label = c.Varint()
	r.Location = Location{Shard: int(c.Varint()), Offset: c.Varint(), Length: c.Varint()}
	r.Shape = [3]int{int(c.Varint()), int(c.Varint()), int(c.Varint())}
	r.Size, r.Source.Size, r.Source.ModTime = c.Varint(), c.Varint(), c.Varint()
	r.Checksum, r.Source.Hash = c.Hash128(), c.Hash128()
	for range columns {
		r.Columns = append(r.Columns, string(c.Bytes()))
	}
	if marked {
		mark := c.Uint32()
		r.Provenance = formats.Provenance{Edited: uint16(mark), Origin: uint16(mark >> 16)}
	}
	return r
}
