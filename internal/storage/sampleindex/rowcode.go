package sampleindex

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
)

// AppendRow appends r without its Fields, for a journal, to b; history says whether with its Provenance.
func AppendRow(b []byte, r *Row, history bool) []byte {
	b = wire.AppendBytes(b, r.Key)
	b = wire.AppendBytes(b, r.Split)
	b = wire.AppendBytes(b, r.Encoding)
	b = wire.AppendBytes(b, r.Source.Path)
	for _, x := range [...]int64{
		r.Label, int64(r.Location.Shard), r.Location.Offset, r.Location.Length,
		int64(r.Shape[0]), int64(r.Shape[1]), int64(r.Shape[2]), r.Size, r.Source.Size, r.Source.ModTime,
	} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	b = append(b, r.Checksum[:]...)
	b = append(b, r.Source.Hash[:]...)
	for _, v := range r.Columns {
		b = wire.AppendBytes(b, v)
	}
	if history {
		b = binary.LittleEndian.AppendUint16(b, r.Provenance.Edited)
		b = binary.LittleEndian.AppendUint16(b, r.Provenance.Origin)
	}
	return b
}

// TakeRow takes a row with that many user columns, as AppendRow appended it. Its strings are copies.
// ErrDamaged if the row is cut; CheckTaken tells whether its values can be those of a dataset.
func TakeRow(c *wire.Cursor, columns int, history bool) (Row, error) {
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
	if history {
		mark := c.Uint32()
		r.Provenance = formats.Provenance{Edited: uint16(mark), Origin: uint16(mark >> 16)}
	}
	if c.Failed {
		return Row{}, fmt.Errorf("%w: a checkpoint cannot be parsed", formats.ErrDamaged)
	}
	return r, nil
}

// CheckTaken rejects values that no writer writes to a journal.
func (r *Row) CheckTaken() error {
	if err := formats.CheckKey(r.Key); err != nil {
		return fmt.Errorf("a checkpoint: %w: %w", formats.ErrDamaged, err)
	}
	if err := CheckStoredSplit(r.Split); err != nil {
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

// CheckStoredSplit rejects the name of a split in a dataset that is not a safe relative path. Earlier
// versions accepted names with slashes: their datasets can still be read and relabelled.
func CheckStoredSplit(name string) error {
	if name == "" {
		return nil
	}
	if err := formats.CheckKey(name); err != nil {
		return fmt.Errorf("%w: %w: %q: %w", formats.ErrDamaged, formats.ErrSplit, name, err)
	}
	return nil
}
