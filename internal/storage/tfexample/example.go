package tfexample

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// Kind is which list a feature has.
type Kind byte

// The kinds of features. A feature without a list is None.
const (
	None   Kind = 0
	Bytes  Kind = 1
	Floats Kind = 2
	Ints   Kind = 3
)

func (k Kind) String() string {
	return [...]string{"none", "bytes", "float", "int64"}[k&3]
}

// Feature is one feature of an example; it points into the example's bytes.
type Feature struct {
	Kind Kind
	list []byte // the message with the list
}

// ListOf returns the feature whose list, see List, is b.
func ListOf(k Kind, b []byte) Feature { return Feature{k, b} }

// List returns the message with the list.
func (f Feature) List() []byte { return f.list }

// errExample is returned for bytes that are not a tf.train.Example.
var errExample = fmt.Errorf("%w: a tf.train.Example cannot be parsed", formats.ErrDamaged)

// fields calls yield with each field of the message b: its number, wire type and bytes, without the length of a
// length-delimited one.
func fields(b []byte, yield func(no protowire.Number, wire protowire.Type, content []byte) error) error {
	for len(b) > 0 {
		no, wire, n := protowire.ConsumeTag(b)
		if n < 0 || wire == protowire.StartGroupType { // groups are not in any of these messages
			return errExample
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(no, wire, b); n < 0 {
			return errExample
		}
		content := b[:n:n]
		if wire == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(content)
		}
		if err := yield(no, wire, content); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// messages calls yield with the content of each length-delimited field number want of b.
func messages(b []byte, want protowire.Number, yield func(content []byte) error) error {
	return fields(b, func(no protowire.Number, wire protowire.Type, content []byte) error {
		if no != want {
			return nil
		}
		if wire != protowire.BytesType {
			return errExample
		}
		return yield(content)
	})
}

// Each calls yield with each feature of an example, in the order of the bytes. If a name occurs twice the
// last one counts, as in protobuf. It ends with yield's first error.
func Each(example []byte, yield func(name []byte, f Feature) error) error {
	return messages(example, 1, func(features []byte) error {
		return messages(features, 1, func(entry []byte) error {
			name, f, err := parseEntry(entry)
			if err != nil {
				return err
			}
			return yield(name, f)
		})
	})
}

// IsSequence reports whether a message is a tf.train.SequenceExample with lists of features. Its context is where an
// Example has its features, so a reader of Examples would take it for one without the lists.
func IsSequence(example []byte) bool {
	lists := false
	err := messages(example, 2, func(content []byte) error {
		lists = lists || len(content) > 0
		return nil
	})
	return err == nil && lists
}

func parseEntry(entry []byte) (name []byte, f Feature, err error) {
	err = fields(entry, func(no protowire.Number, wire protowire.Type, content []byte) (err error) {
		switch {
		case no <= 2 && wire != protowire.BytesType:
			return errExample
		case no == 1:
			name = content
		case no == 2:
			f, err = parseFeature(content)
		}
		return err
	})
	return name, f, err
}

// parseFeature reads a Feature. The lists are a oneof: the last one counts.
func parseFeature(b []byte) (f Feature, err error) {
	err = fields(b, func(no protowire.Number, wire protowire.Type, content []byte) error {
		switch {
		case no > 3:
		case wire != protowire.BytesType:
			return errExample
		default:
			f = Feature{Kind(no), content}
		}
		return nil
	})
	return f, err
}

// Bytes returns value i of a bytes list, without a copy; ok is false if there is none.
func (f Feature) Bytes(i int) (b []byte, ok bool, err error) {
	if f.Kind != Bytes {
		return nil, false, nil
	}
	err = messages(f.list, 1, func(content []byte) error {
		if i == 0 {
			b, ok = content, true
		}
		i--
		return nil
	})
	return b, ok, err
}

// EachBytes calls yield with each value of a bytes list, without a copy.
func (f Feature) EachBytes(yield func([]byte)) error {
	if f.Kind != Bytes {
		return nil
	}
	return messages(f.list, 1, func(content []byte) error { yield(content); return nil })
}

// Len returns the number of values of the list.
func (f Feature) Len() (n int, err error) {
	switch f.Kind {
	case Bytes:
		err = messages(f.list, 1, func([]byte) error { n++; return nil })
	case Ints:
		err = f.Ints(func(int64) { n++ })
	case Floats:
		err = f.Floats(func(float32) { n++ })
	}
	return n, err
}

// Ints calls yield with each value of an int64 list, packed or not.
func (f Feature) Ints(yield func(int64)) error {
	return f.numbers(Ints, func(wire protowire.Type, content []byte) error {
		if wire != protowire.VarintType && wire != protowire.BytesType {
			return errExample
		}
		for len(content) > 0 {
			x, n := protowire.ConsumeVarint(content)
			if n < 0 {
				return errExample
			}
			yield(int64(x))
			content = content[n:]
		}
		return nil
	})
}

// Floats calls yield with each value of a float list, packed or not.
func (f Feature) Floats(yield func(float32)) error {
	return f.numbers(Floats, func(wire protowire.Type, content []byte) error {
		if wire != protowire.Fixed32Type && wire != protowire.BytesType || len(content)%4 != 0 {
			return errExample
		}
		for ; len(content) > 0; content = content[4:] {
			yield(math.Float32frombits(binary.LittleEndian.Uint32(content)))
		}
		return nil
	})
}

func (f Feature) numbers(kind Kind, each func(wire protowire.Type, content []byte) error) error {
	if f.Kind != kind {
		return nil
	}
	return fields(f.list, func(no protowire.Number, wire protowire.Type, content []byte) error {
		if no != 1 {
			return nil
		}
		return each(wire, content)
	})
}

// Packed returns the one length-delimited value of the list, nil if the list is empty: the value of a bytes list, or packed numbers.
func (f Feature) Packed() (packed []byte, err error) {
	n := 0
	err = messages(f.list, 1, func(content []byte) error { packed = content; n++; return nil })
	if err == nil && (n > 1 || n == 0 && f.Kind == Bytes) {
		err = errExample
	}
	return packed, err
}

// Int returns the only value of an int64 list; ok is false if there is none, or there are several.
func (f Feature) Int() (x int64, ok bool, err error) {
	n := 0
	err = f.Ints(func(v int64) { x = v; n++ })
	return x, n == 1, err
}

// The bytes of a frame around its data.
const (
	FrameHead = 12 // length and its checksum
	FrameTail = 4  // the data's checksum
)

// MaskCRC masks a checksum as TensorFlow does, since data may itself contain checksums.
func MaskCRC(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

// AppendFrameHead appends what comes before the size bytes of a frame's data.
func AppendFrameHead(b []byte, size int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return binary.LittleEndian.AppendUint32(b, MaskCRC(crc32.Checksum(b[len(b)-8:], checksum.Castagnoli)))
}

// FrameLength returns the bytes of the frame at the front of b, of which at least FrameHead bytes are
// needed. It verifies the checksum of the length, and does not compare the length with b's.
func FrameLength(b []byte) (int64, error) {
	if len(b) < FrameHead {
		return 0, fmt.Errorf("%w: the file ends within a frame", formats.ErrDamaged)
	}
	size := binary.LittleEndian.Uint64(b)
	if MaskCRC(crc32.Checksum(b[:8], checksum.Castagnoli)) != binary.LittleEndian.Uint32(b[8:]) {
		return 0, fmt.Errorf("%w: the checksum of a frame's length differs", formats.ErrDamaged)
	}
	if size > 1<<62 {
		return 0, fmt.Errorf("%w: a frame declares %d bytes", formats.ErrDamaged, size)
	}
	return int64(size) + FrameHead + FrameTail, nil
}

// Unframe returns the data of rec, which is one frame. Only with check does it read the data.
func Unframe(rec []byte, check bool) ([]byte, error) {
	if len(rec) < FrameHead+FrameTail {
		return nil, fmt.Errorf("%w: a frame of %d bytes is too short", formats.ErrDamaged, len(rec))
	}
	n, err := FrameLength(rec)
	if err != nil {
		return nil, err
	}
	data := rec[FrameHead : len(rec)-FrameTail]
	if n != int64(len(rec)) {
		return nil, fmt.Errorf("%w: a frame declares %d bytes, but has %d", formats.ErrDamaged, n-FrameHead-FrameTail, len(data))
	}
	if check && MaskCRC(crc32.Checksum(data, checksum.Castagnoli)) != binary.LittleEndian.Uint32(rec[len(rec)-FrameTail:]) {
		return nil, fmt.Errorf("%w: the checksum of a frame's data differs", formats.ErrDamaged)
	}
	return data, nil
}
