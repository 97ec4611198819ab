package h5file

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// undefined is an address that stands for nothing.
const undefined = ^uint64(0)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", formats.ErrDamaged, fmt.Sprintf(format, args...))
}

// errUnsupported is in the chain of errors about what is not read.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s is not supported: write the file again with h5py's defaults, or pack it from Python",
		formats.ErrSchema, fmt.Sprintf(format, args...))
}

// cursor takes numbers from the front of b. After the end it fails, and returns zeros.
type cursor struct {
	b      []byte
	failed bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.failed, c.b = true, nil
		return nil
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// number takes a little-endian number of n bytes.
func (c *cursor) number(n int) (x uint64) {
	for i, b := range c.take(n) {
		x |= uint64(b) << (8 * i)
	}
	return x
}

func (c *cursor) u8() int     { return int(c.number(1)) }
func (c *cursor) u16() int    { return int(c.number(2)) }
func (c *cursor) u32() int    { return int(c.number(4)) }
func (c *cursor) u64() uint64 { return c.number(8) }
