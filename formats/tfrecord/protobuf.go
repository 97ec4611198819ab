package tfrecord

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/dsconv/dsconv/formats"
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

// take reads the length-delimited field of that tag at the front of b.
func take(b []byte, tag byte) (content, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != tag {
		return nil, nil, false
	}
	n, k := binary.Uvarint(b[1:])
	if k <= 0 || n > uint64(len(b)-1-k) {
		return nil, nil, false
	}
	b = b[1+k:]
	return b[:n:n], b[n:], true
}

// features calls yield with the features of an example in order. It reads only the form that
// appendFeature writes; any other valid protobuf is an error.
func features(example []byte, yield func(name []byte, kind listKind, payload []byte) error) error {
	all, rest, ok := take(example, field1)
	if !ok || len(rest) != 0 {
		return errExample
	}
	for len(all) > 0 {
		var entry []byte
		if entry, all, ok = take(all, field1); !ok {
			return errExample
		}
		name, kind, payload, ok := parseEntry(entry)
		if !ok {
			return errExample
		}
		if err := yield(name, kind, payload); err != nil {
			return err
		}
	}
	return nil
}

func parseEntry(entry []byte) (name []byte, kind listKind, payload []byte, ok bool) {
	name, entry, ok = take(entry, field1)
	if !ok {
		return nil, 0, nil, false
	}
	feature, rest, ok := take(entry, field2)
	if !ok || len(rest) != 0 || len(feature) == 0 {
		return nil, 0, nil, false
	}
	kind = listKind(feature[0])
	if kind != bytesList && kind != floatList && kind != int64List {
		return nil, 0, nil, false
	}
	inner, rest, ok := take(feature, feature[0])
	if !ok || len(rest) != 0 {
		return nil, 0, nil, false
	}
	if len(inner) == 0 && kind != bytesList {
		return name, kind, nil, true
	}
	payload, rest, ok = take(inner, field1)
	return name, kind, payload, ok && len(rest) == 0
}

// nextInt reads the varint at the front of a packed list.
func nextInt(payload []byte) (x int64, rest []byte, err error) {
	u, n := binary.Uvarint(payload)
	if n <= 0 {
		return 0, nil, errExample
	}
	return int64(u), payload[n:], nil
}
