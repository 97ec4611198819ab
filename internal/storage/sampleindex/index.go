package sampleindex

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// The first page:
//
//	magic        8 bytes
//	rows         uint64
//	ID           16 bytes
//	description  uint64, its length; it begins on the next page
//	data         uint64, the number of pages before those of the checksums, the first page included
//	root         uint32, CRC-32C of the last page
//	crc          uint32, CRC-32C of what comes before; the rest of the page is zero
//
// Numbers are little-endian.
const (
	magic      = "DSCINDX1"
	headerSize = 8 + 8 + 16 + 8 + 8 + 4 + 4
)

// ID identifies what an index was made from.
type ID [16]byte

// NewID returns the ID of what the parts describe.
func NewID(parts ...[]byte) ID {
	h := xxh3.New()
	for _, p := range parts {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		_, _ = h.Write(p)
	}
	return h.Sum128().Bytes()
}

// header is the first page.
type header struct {
	rows        int
	id          ID
	description int64
	data        int64 // pages
	root        uint32
}

func (h *header) encode() []byte {
	b := append(make([]byte, 0, pageSize), magic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.rows))
	b = append(b, h.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.description))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.data))
	b = binary.LittleEndian.AppendUint32(b, h.root)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksum.Castagnoli))
	return b[:pageSize]
}

// decodeHeader reads the first page of a file of size bytes.
func decodeHeader(b []byte, size int64) (h header, err error) {
	u64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }
	switch {
	case len(b) < pageSize || string(b[:8]) != magic:
		return h, fmt.Errorf("%w: it does not begin as an index does", formats.ErrDamaged)
	case crc32.Checksum(b[:headerSize-4], checksum.Castagnoli) != binary.LittleEndian.Uint32(b[headerSize-4:]):
		return h, fmt.Errorf("%w: the checksum of its first bytes differs", formats.ErrDamaged)
	case !allZero(b[headerSize:pageSize]):
		return h, fmt.Errorf("%w: its first page has bytes that were not written", formats.ErrDamaged)
	}
	h = header{rows: int(u64(8)), description: u64(32), data: u64(40), root: binary.LittleEndian.Uint32(b[48:])}
	copy(h.id[:], b[16:])
	if h.rows < 0 || h.rows > math.MaxInt32 || h.data < 2 || h.data > size/pageSize || h.description < 0 || h.description > (h.data-1)*pageSize {
		return h, fmt.Errorf("%w: its first page has impossible numbers", formats.ErrDamaged)
	}
	if _, total := levels(h.data); total*pageSize != size {
		return h, fmt.Errorf("%w: it has %d bytes, but %d were written", formats.ErrDamaged, size, total*pageSize)
	}
	return h, nil
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// IsIndex reports whether a file that begins with b is an index, damaged or not.
func IsIndex(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Index is an open index. It is safe for concurrent use, as long as its memory is mapped. Its errors are
// formats.ErrDamaged and name the file.
type Index struct {
	pages
	*layout
	id     ID
	header [headerSize]byte
}

// Open opens the index in b, which must stay mapped as long as it is used. name is the file's name, for
// errors. Open reads a few pages, however long the file is.
func Open(b []byte, name string) (x *Index, err error) {
	named := func(err error) error { return fmt.Errorf("%s: %w", name, err) }
	err = guard.Read(b[:min(len(b), pageSize)], func() error {
		h, err := decodeHeader(b, int64(len(b)))
		if err != nil {
			return named(err)
		}
		x = &Index{pages: pages{name: name, b: b, root: h.root}, id: h.id, header: [headerSize]byte(b)}
		var total int64
		x.first, total = levels(h.data)
		x.seen = bitmap(total)
		at := pageSize + h.description
		description, err := x.use(pageSize, at) // its errors name the file
		if err != nil {
			return err
		}
		if x.layout, err = decodeLayout(description, h.rows, align(at), h.data*pageSize); err != nil {
			return named(err)
		}
		return nil
	})
	switch {
	case err == nil:
		return x, nil
	case errors.Is(err, formats.ErrDamaged):
		return nil, err
	}
	return nil, named(err) // of a panic
}

// Len returns the number of samples.
func (x *Index) Len() int { return x.rows }

// ID returns what the index was made from.
func (x *Index) ID() ID { return x.id }

// At returns what describes sample i.
func (x *Index) At(i int) (e Entry, err error) {
	if i < 0 || i >= x.rows {
		return e, fmt.Errorf("index %d out of range: the dataset has %d samples", i, x.rows)
	}
	e.x = x
	b := x.rowAt(i)
	err = guard.Read(b, func() error {
		row, err := x.row(i)
		if len(row) > rowRoom {
			e.long = bytes.Clone(row)
		}
		copy(e.room[:], row)
		return cmp.Or(err, guard.Shortened(b), x.unchanged())
	})
	return e, err
}

// unchanged returns an error if the file was overwritten since it was opened. Its pages are compared with
// their checksums only once, but the first one has the checksum of all.
func (x *Index) unchanged() error {
	now := x.b[:headerSize]
	return guard.Read(now, func() error {
		if !bytes.Equal(now, x.header[:]) {
			return fmt.Errorf("%s: %w: it was overwritten while it was open: open the dataset again", x.name, formats.ErrDamaged)
		}
		return nil
	})
}

// rowAt returns the bytes of row i, without those that only a number read as 8 bytes needs.
func (x *Index) rowAt(i int) []byte {
	return x.b[x.table.at+int64(i)*int64(x.width):][:x.width+x.texts]
}

// row returns the bytes of row i, in memory of the index. Its numbers are read as 8 bytes, of which a mask
// leaves their own.
func (x *Index) row(i int) ([]byte, error) {
	at := x.table.at + int64(i)*int64(x.width)
	_, err := x.use(at, at+int64(x.width+x.texts))
	return x.b[at:][:x.width+x.texts+8], err
}

// text returns the text of number k of a row in its section, in memory of the index: it ends where that of
// the next row begins.
func (x *Index) text(row []byte, k int, section span) ([]byte, error) {
	n := &x.numbers[k]
	from, to := n.of(row), n.of(row[x.width:])
	if from < 0 || to < from || to > section.length {
		return nil, fmt.Errorf("%s: %w: a text would be the bytes %d to %d of %d", x.name, formats.ErrDamaged, from, to, section.length)
	}
	return x.use(section.at+from, section.at+to)
}

// Name names sample i in a message: by its key, or by its number if that cannot be read.
func (x *Index) Name(i int) string {
	key, err := x.KeyOf(i)
	if err != nil {
		return fmt.Sprintf("sample %d", i)
	}
	return fmt.Sprintf("key %q", key)
}

// KeyOf returns the key of sample i.
func (x *Index) KeyOf(i int) (string, error) {
	e, err := x.At(i)
	if err != nil {
		return "", err
	}
	key, err := e.Key()
	return string(key), err
}

// Find returns the index of the sample with the key; ok is false if there is none.
func (x *Index) Find(key string) (i int, ok bool, err error) {
	err = guard.Read(x.b, func() (err error) {
		i = sort.Search(x.rows, func(i int) bool {
			var k []byte
			row, failed := x.row(i)
			if failed == nil {
				k, failed = x.text(row, numberKey, x.keys)
			}
			err = cmp.Or(err, failed)
			ok = ok || string(k) == key
			return string(k) >= key
		})
		return cmp.Or(err, guard.Shortened(x.b))
	})
	return i, ok && err == nil, err
}

// Info returns sample i's Info, in memory of its own.
func (x *Index) Info(i int) (formats.Info, error) {
	e, err := x.At(i)
	if err != nil {
		return formats.Info{}, err
	}
	in := formats.Info{
		Split: e.split(), Label: e.Label(), Size: e.Size(), Encoding: e.Encoding(), Shape: e.Shape(), Checksum: e.sum(), Provenance: e.provenance(),
	}
	if in.Key, in.Source, err = e.source(); err != nil || len(x.columns) == 0 {
		return in, err
	}
	in.Columns, err = e.appendColumns(make([]string, 0, len(x.columns)))
	return in, err
}

// Labels returns the labels of all samples: int64, little-endian, that of sample i at byte i*stride of data,
// in memory of the index; the stride is 0 if all have the same. It compares their pages with the checksums.
func (x *Index) Labels() (data []byte, stride int, err error) {
	if x.labels.length == 0 {
		return binary.LittleEndian.AppendUint64(nil, uint64(x.numbers[numberLabel].base)), 0, nil
	}
	data, err = x.use(x.labels.at, x.labels.end())
	return data, 8, err
}

// Members returns the indices of the samples of a split, ascending, in memory of the index; all is true,
// and the list empty, if they are all samples. It compares the list's pages with their checksums. ok is
// false if the index has no lists, since there are too many splits.
func (x *Index) Members(split string) (indices []int32, all, ok bool, err error) {
	k := sort.SearchStrings(x.splits, split)
	switch {
	case k == len(x.splits) || x.splits[k] != split:
		return nil, false, true, nil
	case len(x.splits) == 1:
		return nil, true, true, nil
	case len(x.members) == 0:
		return nil, false, false, nil
	}
	b, err := x.use(x.members[k].at, x.members[k].end())
	if err != nil || len(b) == 0 {
		return nil, false, true, err
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4), false, true, nil
}

// Check compares all pages with their checksums and reports those that differ.
func (x *Index) Check(ctx context.Context, report func(formats.Damage)) error {
	again := Index{pages: pages{name: x.name, b: x.b, first: x.first, root: x.root, seen: bitmap(int64(len(x.b) / pageSize))}}
	if err := guard.Read(x.b[:pageSize], func() error {
		_, err := decodeHeader(x.b, int64(len(x.b)))
		return err
	}); err != nil {
		report(formats.Damage{File: x.name, Length: pageSize, Cause: err.Error()})
	}
	for at := int64(pageSize); at < int64(len(x.b)); at += pageSize {
		if at%(1<<20) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := again.use(at, at+pageSize); err != nil {
			report(formats.Damage{File: x.name, Offset: at, Length: pageSize, Cause: err.Error()})
		}
	}
	return nil
}

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
