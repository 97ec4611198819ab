package folder

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

type sample struct {
	vfs.File
	key, split string
	labels     []int64 // one per label field of the schema, a number as its bits; the set classes if multi-hot
	columns    []string
	row        []string // of the table, if there is a description
}

// record encodes what tells the sample from others of its key; decode reads it.
func (it *sample) record(b []byte) []byte {
	n := 0
	for n < min(len(it.key), len(it.Path)) && it.key[n] == it.Path[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = wire.AppendBytes(b, it.Path[n:])
	b = binary.AppendUvarint(b, uint64(it.Size))
	return binary.AppendUvarint(b, uint64(it.ModTime))
}

func (it *sample) Decode(key, record []byte) error {
	value := wire.Cursor{B: record}
	n := value.Number(int64(len(key)))
	it.Path = string(key[:n]) + string(value.Bytes())
	if it.key = it.Path[:n]; int(n) < len(key) {
		it.key = string(key)
	}
	it.Size, it.ModTime = value.Varint(), value.Varint()
	if value.Failed {
		return extsort.ErrDamagedList
	}
	return nil
}
