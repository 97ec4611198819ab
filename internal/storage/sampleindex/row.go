package sampleindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

// Location is where bytes are in a dataset's data files: the record of a sample, or one value.
type Location struct {
	Shard  int   // index into Meta.Files
	Offset int64 // of the first byte
	Length int64 // in bytes
}

// Row is what is recorded of a sample apart from its values.
type Row struct {
	formats.Info
	// Location is that of the sample's record in a shard. In LMDB and HDF5 it is that of the designated
	// image, which only the index has: in the manifest it is zero.
	Location Location
	// Fields are the locations of the extra fields' values where each has its own, as in LMDB. Only the
	// index has them.
	Fields []Location
}

// MaxText is the largest number of bytes of a path, or of the text of a user's column.
const MaxText = 16 << 20

// CheckTexts returns ErrSchema if r does not have a text for each of the user's columns, or one that is too
// long.
func (r *Row) CheckTexts(columns []string) error {
	if len(r.Columns) != len(columns) {
		return fmt.Errorf("%w: %d user columns, the dataset has %d", formats.ErrSchema, len(r.Columns), len(columns))
	}
	if len(r.Source.Path) > MaxText {
		return fmt.Errorf("%w: the source path has %d bytes, the limit is %d", formats.ErrSchema, len(r.Source.Path), MaxText)
	}
	for i, v := range r.Columns {
		if len(v) > MaxText {
			return fmt.Errorf("%w: the value of column %s has %d bytes, the limit is %d", formats.ErrSchema, columns[i], len(v), MaxText)
		}
	}
	return nil
}

// EachStored calls yield with the numbers of n samples in the order of their places in the files. Many are sorted on the disk.
func EachStored(n int, place func(i int32) (Location, error), yield func(i int32) error) (err error) {
	sorter := extsort.New("", 8<<20)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	var key [12]byte
	var index [4]byte
	for i := range int32(n) {
		at, err := place(i)
		if err != nil {
			return err
		}
		binary.BigEndian.PutUint32(key[:], uint32(at.Shard))
		binary.BigEndian.PutUint64(key[4:], uint64(at.Offset))
		binary.LittleEndian.PutUint32(index[:], uint32(i))
		if err := sorter.Add(key[:], index[:]); err != nil {
			return err
		}
	}
	return sorter.Each(func(_, index []byte) error { return yield(int32(binary.LittleEndian.Uint32(index))) })
}

// Rows calls yield with each of many rows, and ends with the first error. A row is valid until yield
// returns, which may change it. It can be called again.
type Rows func(yield func(r *Row) error) error

// CheckIn returns an error if the location does not lie within one of so many files, which have those sizes.
func (at Location) CheckIn(files int, size func(shard int) int64) error {
	if at.Shard < 0 || at.Shard >= files {
		return fmt.Errorf("%w: its record is in shard %d, but there are %d shards", formats.ErrDamaged, at.Shard, files)
	}
	if size := size(at.Shard); at.Offset < 0 || at.Length < 0 || at.Offset > size || at.Length > size-at.Offset {
		return fmt.Errorf("%w: its record has %d bytes at byte %d, but the file has %d bytes", formats.ErrDamaged, at.Length, at.Offset, size)
	}
	return nil
}

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
