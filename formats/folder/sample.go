package folder

import (
	"encoding/binary"

	"github.com/dsconv/dsconv/internal/wire"
)

type sample struct {
	file
	key, split string
	labels     []int64 // one per label field of the schema, a number as its bits; the set classes if multi-hot
	columns    []string
	row        []string // of the table, if there is a description
}

// record encodes what tells the sample from others of its key; decode reads it.
func (it *sample) record(b []byte) []byte {
	n := 0
	for n < min(len(it.key), len(it.path)) && it.key[n] == it.path[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = wire.AppendBytes(b, it.path[n:])
	b = binary.AppendUvarint(b, uint64(it.size))
	return binary.AppendUvarint(b, uint64(it.modTime))
}

func (it *sample) decode(key, record []byte) error {
	value := wire.Cursor{B: record}
	n := value.Number(int64(len(key)))
	it.path = string(key[:n]) + string(value.Bytes())
	if it.key = it.path[:n]; int(n) < len(key) {
		it.key = string(key)
	}
	it.size, it.modTime = value.Varint(), value.Varint()
	if value.Failed {
		return errDamagedList
	}
	return nil
}
