package tfexample

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
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

// The wire types of protobuf.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// errExample is returned for bytes that are not a tf.train.Example.
var errExample = fmt.Errorf("%w: a tf.train.Example cannot be parsed", formats.ErrDamaged)

// field reads the field at the front of b: its number, wire type, the content of length-delimited and
// fixed fields or the value of a varint, and what follows.
func field(b []byte) (no uint64, wire int, content []byte, x uint64, rest []byte, err error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 {
		return 0, 0, nil, 0, nil, errExample
	}
	no, wire, b = tag>>3, int(tag&7), b[n:]
	size := uint64(0)
	switch wire {
	case wireVarint:
		if x, n = binary.Uvarint(b); n <= 0 {
			return 0, 0, nil, 0, nil, errExample
		}
		return no, wire, nil, x, b[n:], nil
	case wire64:
		size = 8
	case wire32:
		size = 4
	case wireBytes:
		if size, n = binary.Uvarint(b); n <= 0 {
			return 0, 0, nil, 0, nil, errExample
		}
		b = b[n:]
	default: // groups are not in any of these messages
		return 0, 0, nil, 0, nil, errExample
	}
	if size > uint64(len(b)) {
		return 0, 0, nil, 0, nil, errExample
	}
	return no, wire, b[:size:size], 0, b[size:], nil
}

// messages calls yield with the content of each length-delimited field number want of b.
func messages(b []byte, want uint64, yield func(content []byte) error) error {
	for len(b) > 0 {
		no, wire, content, _, rest, err := field(b)
		if err != nil {
			return err
		}
		if b = rest; no != want {
			continue
		}
		if wire != wireBytes {
			return errExample
		}
		if err := yield(content); err != nil {
			return err
		}
	}
	return nil
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
	for len(entry) > 0 {
		no, wire, content, _, rest, err := field(entry)
		if err != nil {
			return nil, f, err
		}
		switch entry = rest; {
		case no <= 2 && wire != wireBytes:
			return nil, f, errExample
		case no == 1:
			name = content
		case no == 2:
			if f, err = parseFeature(content); err != nil {
				return nil, f, err
			}
		}
	}
	return name, f, nil
}

// parseFeature reads a Feature. The lists are a oneof: the last one counts.
func parseFeature(b []byte) (f Feature, err error) {
	for len(b) > 0 {
		no, wire, content, _, rest, err := field(b)
		if err != nil {
			return f, err
		}
		if b = rest; no > 3 {
			continue
		}
		if wire != wireBytes {
			return f, errExample
		}
		f = Feature{Kind(no), content}
	}
	return f, nil
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

// IsEmpty reports whether there is no value: writers give a missing one an empty list, of any kind.
func (f Feature) IsEmpty() bool {
	n, err := f.Len()
	return n == 0 && err == nil
}

// Ints calls yield with each value of an int64 list, packed or not.
func (f Feature) Ints(yield func(int64)) error {
	return f.numbers(Ints, func(wire int, content []byte, x uint64) error {
		if wire == wireVarint {
			yield(int64(x))
			return nil
		}
		for wire == wireBytes && len(content) > 0 {
			x, n := binary.Uvarint(content)
			if n <= 0 {
				return errExample
			}
			yield(int64(x))
			content = content[n:]
		}
		if wire != wireBytes {
			return errExample
		}
		return nil
	})
}

// Floats calls yield with each value of a float list, packed or not.
func (f Feature) Floats(yield func(float32)) error {
	return f.numbers(Floats, func(wire int, content []byte, _ uint64) error {
		if wire != wire32 && wire != wireBytes || len(content)%4 != 0 {
			return errExample
		}
		for ; len(content) > 0; content = content[4:] {
			yield(math.Float32frombits(binary.LittleEndian.Uint32(content)))
		}
		return nil
	})
}

func (f Feature) numbers(kind Kind, each func(wire int, content []byte, x uint64) error) error {
	if f.Kind != kind {
		return nil
	}
	for b := f.list; len(b) > 0; {
		no, wire, content, x, rest, err := field(b)
		if err != nil {
			return err
		}
		if b = rest; no != 1 {
			continue
		}
		if err := each(wire, content, x); err != nil {
			return err
		}
	}
	return nil
}

// Int returns the only value of an int64 list; ok is false if there is none, or there are several.
func (f Feature) Int() (x int64, ok bool, err error) {
	n := 0
	err = f.Ints(func(v int64) { x = v; n++ })
	return x, n == 1, err
}
