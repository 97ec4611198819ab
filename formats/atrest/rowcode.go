package atrest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
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
func (t *Manifest) TakeRows(c *cursor) error {
	for range c.length(1) {
		r := takeRow(c, len(t.columns), t.hasProvenance)
		if c.failed {
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
	b = appendBytes(b, t.key(r))
	b = appendBytes(b, t.splits[r.split])
	b = appendBytes(b, t.encodings[r.encoding])
	b = appendBytes(b, t.path(r))
	for _, x := range []int64{
		r.label, int64(r.shard), r.offset, r.length, int64(r.shape[0]), int64(r.shape[1]), int64(r.shape[2]), r.size,
		r.srcSize, r.mod,
	} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	b = append(b, r.checksum[:]...)
	b = append(b, r.hash[:]...)
	for j := range t.user {
		b = appendBytes(b, t.user[j].at(i))
	}
	if t.hasProvenance {
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Edited)
		b = binary.LittleEndian.AppendUint16(b, r.provenance.Origin)
	}
	return b
}

// takeRow reads what appendRow wrote.
func takeRow(c *cursor, columns int, marked bool) Row {
	var r Row
	r.Key, r.Split, r.Encoding = string(c.bytes()), string(c.bytes()), formats.Encoding(c.bytes())
	r.Source.Path = string(c.bytes())
	r.Label = c.varint()
	r.Location = Location{Shard: int(c.varint()), Offset: c.varint(), Length: c.varint()}
	r.Shape = [3]int{int(c.varint()), int(c.varint()), int(c.varint())}
	r.Size, r.Source.Size, r.Source.ModTime = c.varint(), c.varint(), c.varint()
	r.Checksum, r.Source.Hash = c.hash128(), c.hash128()
	for range columns {
		r.Columns = append(r.Columns, string(c.bytes()))
	}
	if marked {
		mark := c.uint32()
		r.Provenance = formats.Provenance{Edited: uint16(mark), Origin: uint16(mark >> 16)}
	}
	return r
}
