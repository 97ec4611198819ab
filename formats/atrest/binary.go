package atrest

import "encoding/binary"

// cursor reads values from the front of b. A read past the end sets failed and returns
// zeros, so that callers check once.
type cursor struct {
	b      []byte
	failed bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.failed, c.b = true, nil
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) uvarint() uint64 {
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.failed, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return x
}

func (c *cursor) varint() int64 { return int64(c.uvarint()) }

// length reads a count of items of at least each bytes. A count that the rest of b cannot hold
// is a failure, so that a false header cannot cause a large allocation.
func (c *cursor) length(each int) int {
	n := c.uvarint()
	if n > uint64(len(c.b)/each) {
		c.failed, c.b = true, nil
		return 0
	}
	return int(n)
}

func (c *cursor) bytes() []byte { return c.take(c.length(1)) }

func (c *cursor) uint32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *cursor) hash128() (s [16]byte) {
	copy(s[:], c.take(16))
	return s
}

func appendBytes[T ~string | ~[]byte](b []byte, p T) []byte {
	b = binary.AppendUvarint(b, uint64(len(p)))
	return append(b, p...)
}
