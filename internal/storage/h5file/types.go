package h5file

// Class is what the elements of a dataset are.
type Class int

// The classes of elements.
const (
	Unsigned Class = iota
	Signed
	Float
	String         // of fixed length, padded
	Variable       // rows of bytes of variable length: uint8
	VariableString // text of variable length
)

// Type is the type of a dataset's elements.
type Type struct {
	Class Class
	Size  int // bytes of an element in the file
	Big   bool
}

// parseType reads a data type message.
func parseType(b []byte) (t Type, err error) {
	c := &cursor{b: b}
	head := c.u8()
	bits := c.number(3)
	t.Size = c.u32()
	if c.failed || t.Size < 1 || t.Size > 1<<20 {
		return t, damaged("a data type of %d bytes", t.Size)
	}
	class := head & 15
	t.Big = bits&1 != 0
	switch class {
	case 0:
		t.Class = Unsigned
		if bits&8 != 0 {
			t.Class = Signed
		}
		if t.Size > 8 {
			return t, unsupported("an integer of %d bytes", t.Size)
		}
	case 1:
		if t.Class = Float; t.Size != 2 && t.Size != 4 && t.Size != 8 {
			return t, unsupported("a float of %d bytes", t.Size)
		}
	case 3:
		t.Class, t.Big = String, false
	case 8: // an enum, such as h5py's bool: its base type
		return parseType(c.b)
	case 9:
		if t.Size != 16 {
			return t, damaged("a variable length type of %d bytes", t.Size)
		}
		t.Big = false
		if t.Class = VariableString; bits&15 == 1 {
			return t, nil
		}
		base, err := parseType(c.b)
		if err != nil {
			return t, err
		}
		if t.Class = Variable; base.Size != 1 || base.Class != Unsigned && base.Class != Signed {
			return t, unsupported("an array of variable length whose elements are not bytes")
		}
	default:
		return t, unsupported("a data type of class %d (compound, reference, array, opaque, time)", class)
	}
	return t, nil
}

const maxDims = 32

// parseSpace reads a dataspace message; no dims are a scalar.
func parseSpace(b []byte) (dims []uint64, err error) {
	c := &cursor{b: b}
	version, rank := c.u8(), c.u8()
	c.take(1) // flags
	switch version {
	case 1:
		c.take(5)
	case 2:
		if kind := c.u8(); kind == 2 {
			return nil, unsupported("a dataset without a shape")
		}
	default:
		return nil, damaged("a dataspace of version %d", version)
	}
	if rank > maxDims {
		return nil, damaged("%d dimensions", rank)
	}
	total := uint64(1)
	for range rank {
		d := c.u64()
		dims = append(dims, d)
		if d > 1<<40 || d > 0 && total > 1<<50/d {
			return nil, damaged("the impossible shape %d", dims)
		}
		total *= max(d, 1)
	}
	if c.failed {
		return nil, damaged("a dataspace is not complete")
	}
	return dims, nil
}
