package pickle

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/internal/wire"
)

// valueCost is what a value on the stack is counted as: about what its largest kind takes without its items.
const valueCost = 64

// Load returns the object in the pickle at the front of b. It may take about memory bytes; a pickle that needs more
// is an error. Values may point into b. The error says at which byte of b it occurred.
func Load(b []byte, memory int64) (any, error) {
	m := &machine{in: wire.Cursor{B: b}, left: memory, memo: map[uint64]any{}}
	v, err := m.run()
	if err != nil {
		return nil, fmt.Errorf("pickle, byte %d: %w", len(b)-m.rest, err)
	}
	return v, nil
}

var (
	errTruncated = errors.New("it is truncated")
	errStack     = errors.New("an instruction lacks its operands")
)

// machine executes a pickle's instructions.
type machine struct {
	in    wire.Cursor
	rest  int // bytes from the current instruction to the end
	stack []any
	memo  map[uint64]any
	left  int64 // bytes of memory
}

// run executes instructions until STOP.
func (m *machine) run() (any, error) {
	for {
		m.rest = len(m.in.B)
		op := m.in.Take(1)
		if op == nil {
			return nil, errTruncated
		}
		if op[0] == '.' {
			return m.result()
		}
		err := m.step(op[0])
		if err == nil && m.in.Failed {
			err = errTruncated
		}
		if err != nil {
			return nil, err
		}
	}
}

func (m *machine) result() (any, error) {
	v, err := m.pop()
	if err != nil {
		return nil, err
	}
	return m.finished(v)
}

// finished returns v if it is a value of the caller's, not of the machine's.
func (m *machine) finished(v any) (any, error) {
	switch v := v.(type) {
	case mark, global, *dtype:
		return nil, fmt.Errorf("it holds a %T, not a value", v)
	}
	return v, nil
}

// step executes one instruction.
func (m *machine) step(op byte) error {
	for _, group := range []func(*machine, byte) (bool, error){(*machine).scalar, (*machine).bytes, (*machine).container, (*machine).memory, (*machine).object} {
		if known, err := group(m, op); known || err != nil {
			return err
		}
	}
	return fmt.Errorf("unknown instruction %#x", op)
}

// push puts v on the stack and counts its memory.
func (m *machine) push(v any) error {
	if err := m.take(valueCost); err != nil {
		return err
	}
	m.stack = append(m.stack, v)
	return nil
}

// take counts n more bytes of memory.
func (m *machine) take(n int) error {
	if m.left -= int64(n); m.left < 0 {
		return errors.New("it needs more memory than a pickle may take here")
	}
	return nil
}

// pop takes one value from the stack.
func (m *machine) pop() (any, error) {
	v, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return v, err
}

// top returns the last value on the stack, which is not a mark.
func (m *machine) top() (any, error) {
	if len(m.stack) == 0 {
		return nil, errStack
	}
	v := m.stack[len(m.stack)-1]
	if _, ok := v.(mark); ok {
		return nil, errStack
	}
	return v, nil
}

// popN takes the last n values in the order in which they were pushed, as a new slice.
func (m *machine) popN(n int) ([]any, error) {
	if len(m.stack) < n {
		return nil, errStack
	}
	items := append([]any{}, m.stack[len(m.stack)-n:]...)
	for _, v := range items {
		if _, ok := v.(mark); ok {
			return nil, errStack
		}
	}
	m.stack = m.stack[:len(m.stack)-n]
	return items, nil
}

// popMark takes the values after the last mark, and the mark.
func (m *machine) popMark() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(mark); !ok {
			continue
		}
		items := append([]any{}, m.stack[i+1:]...)
		m.stack = m.stack[:i]
		return items, nil
	}
	return nil, errStack
}

// size reads a length of n bytes, which the rest of the pickle must have.
func (m *machine) size(n int) int {
	var x uint64
	for i, c := range m.in.Take(n) {
		x |= uint64(c) << (8 * i)
	}
	if x > uint64(len(m.in.B)) {
		m.in.Fail()
		return 0
	}
	return int(x)
}

// number reads an unsigned little-endian number of n bytes.
func (m *machine) number(n int) (x uint64) {
	for i, c := range m.in.Take(n) {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// bigEndianFloat reads eight bytes.
func (m *machine) bigEndianFloat() float64 {
	var x uint64
	for _, c := range m.in.Take(8) {
		x = x<<8 | uint64(c)
	}
	return math.Float64frombits(x)
}

// long converts an integer of two's complement, little-endian.
func long(b []byte) (int64, error) {
	var fill byte
	if len(b) > 0 && b[len(b)-1] >= 0x80 {
		fill = 0xff
	}
	for i := len(b) - 1; i >= 8; i-- {
		if b[i] != fill {
			return 0, errors.New("an integer of more than 64 bits")
		}
	}
	x := uint64(int64(int8(fill)))
	for i, c := range b[:min(8, len(b))] {
		x = x&^(0xff<<(8*i)) | uint64(c)<<(8*i)
	}
	if (int64(x) < 0) != (fill != 0) {
		return 0, errors.New("an integer of more than 64 bits")
	}
	return int64(x), nil
}
