package wire

import "encoding/binary"

// Cursor reads values from the front of b. A read past the end sets failed and returns
// zeros, so that callers check once.
type Cursor struct {
	B      []byte
	Failed bool
}

// Fail makes this and all later reads fail.
func (c *Cursor) Fail() { c.Failed, c.B = true, nil }

// Take takes the next n bytes, which stay the cursor's memory. It fails if there are fewer.
func (c *Cursor) Take(n int) []byte {
	if n < 0 || n > len(c.B) {
		c.Fail()
		return nil
	}
	p := c.B[:n]
	c.B = c.B[n:]
	return p
}

// Uvarint takes an unsigned varint.
func (c *Cursor) Uvarint() uint64 {
	x, n := binary.Uvarint(c.B)
	if n <= 0 {
		c.Fail()
		return 0
	}
	c.B = c.B[n:]
	return x
}

// Number reads a number of at most limit.
func (c *Cursor) Number(limit int64) int64 {
	x := c.Uvarint()
	if limit < 0 || x > uint64(limit) {
		c.Fail()
		return 0
	}
	return int64(x)
}

// Varint takes a number that was appended as an unsigned varint.
func (c *Cursor) Varint() int64 { return int64(c.Uvarint()) }

// Length reads a count of items of at least each bytes. A count that the rest of b cannot hold
// is a failure, so that a false header cannot cause a large allocation.
func (c *Cursor) Length(each int) int {
	n := c.Uvarint()
	if n > uint64(len(c.B)/each) {
		c.Fail()
		return 0
	}
	return int(n)
}

// Bytes takes a length and that many bytes, which stay the cursor's memory.
func (c *Cursor) Bytes() []byte { return c.Take(c.Length(1)) }

// Uint32 takes four bytes, little-endian.
func (c *Cursor) Uint32() uint32 {
	if p := c.Take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// Hash128 takes 16 bytes.
func (c *Cursor) Hash128() (s [16]byte) {
	copy(s[:], c.Take(16))
	return s
}

// AppendBytes appends the length of p and p, as Cursor.Bytes takes them.
func AppendBytes[T ~string | ~[]byte](b []byte, p T) []byte {
	b = binary.AppendUvarint(b, uint64(len(p)))
	return append(b, p...)
}
