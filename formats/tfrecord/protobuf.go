package tfrecord

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// listKind is the kind of a Feature's list: the tag of its field in the message.
type listKind byte

const (
	bytesList listKind = 1<<3 | 2
	floatList listKind = 2<<3 | 2
	int64List listKind = 3<<3 | 2
)

// Tags of length-delimited fields 1 and 2.
const (
	field1 = 1<<3 | 2
	field2 = 2<<3 | 2
)

// appendFeature appends the entry of a feature to an example up to its payload, which is the
// bytes of the only value of a bytes list, packed floats, or packed varints.
//
// The messages are Features{map<string, Feature> feature = 1}, an entry {key = 1, value = 2},
// Feature{bytes_list = 1, float_list = 2, int64_list = 3}, a list {value = 1}.
func appendFeature(b []byte, name string, kind listKind, payload int) []byte {
	inner := fieldSize(payload)
	if payload == 0 && kind != bytesList {
		inner = 0
	}
	entry := fieldSize(len(name)) + fieldSize(fieldSize(inner))
	b = appendField(b, field1, entry)
	b = appendField(b, field1, len(name))
	b = append(b, name...)
	b = appendField(b, field2, fieldSize(inner))
	b = appendField(b, byte(kind), inner)
	if inner == 0 {
		return b
	}
	return appendField(b, field1, payload)
}

func appendField(b []byte, tag byte, size int) []byte {
	return binary.AppendUvarint(append(b, tag), uint64(size))
}

// fieldSize returns the size of a length-delimited field of n bytes.
func fieldSize(n int) int { return 1 + (bits.Len64(uint64(n)|1)+6)/7 + n }

var errExample = fmt.Errorf("%w: a tf.train.Example cannot be parsed", formats.ErrDamaged)

// features calls yield with the features of an example in order. Each list must have one value or packed numbers.
func features(example []byte, yield func(name []byte, kind listKind, payload []byte) error) error {
	return tfexample.Each(example, func(name []byte, f tfexample.Feature) error {
		payload, err := f.Packed()
		if err != nil {
			return err
		}
		return yield(name, listKind(f.Kind<<3|2), payload)
	})
}

// nextInt reads the varint at the front of a packed list.
func nextInt(payload []byte) (x int64, rest []byte, err error) {
	u, n := binary.Uvarint(payload)
	if n <= 0 {
		return 0, nil, errExample
	}
	return int64(u), payload[n:], nil
}
