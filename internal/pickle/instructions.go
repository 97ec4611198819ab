package pickle

import (
	"errors"
	"fmt"
)

// scalar executes the instructions that push None, bools and numbers.
func (m *machine) scalar(op byte) (known bool, err error) {
	var v any
	switch op {
	case 'N':
	case 0x88, 0x89:
		v = op == 0x88
	case 'K':
		v = int64(m.number(1))
	case 'M':
		v = int64(m.number(2))
	case 'J':
		v = int64(int32(m.number(4)))
	case 0x8a:
		v, err = long(m.in.Take(m.size(1)))
	case 0x8b:
		v, err = long(m.in.Take(m.size(4)))
	case 'G':
		v = m.bigEndianFloat()
	case 'I', 'L', 'F':
		v, err = m.decimal(op)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, m.push(v)
}

// bytes executes the instructions that push bytes and text.
func (m *machine) bytes(op byte) (known bool, err error) {
	var v any
	switch op {
	case 'U', 'C':
		v = m.in.Take(m.size(1))
	case 'T', 'B':
		v = m.in.Take(m.size(4))
	case 0x8e, 0x96:
		v = m.in.Take(m.size(8))
	case 0x8c:
		v, err = m.text(m.in.Take(m.size(1)))
	case 'X':
		v, err = m.text(m.in.Take(m.size(4)))
	case 0x8d:
		v, err = m.text(m.in.Take(m.size(8)))
	case 'S':
		v, err = m.quoted()
	case 'V':
		v, err = m.escaped()
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, m.push(v)
}

// container executes the instructions that build lists, tuples and dicts.
func (m *machine) container(op byte) (known bool, err error) {
	switch op {
	case '(':
		return true, m.push(mark{})
	case ')':
		return true, m.push(tuple{})
	case ']':
		return true, m.push(&list{})
	case '}':
		return true, m.push(&Dict{})
	case 't', 'l', 'd':
		items, err := m.popMark()
		if err != nil {
			return true, err
		}
		return true, m.pushItems(op, items)
	case 0x85, 0x86, 0x87:
		items, err := m.popN(int(op) - 0x84)
		if err != nil {
			return true, err
		}
		return true, m.push(tuple(items))
	case 'a':
		items, err := m.popN(1)
		return true, m.extend(items, err)
	case 'e':
		items, err := m.popMark()
		return true, m.extend(items, err)
	case 's':
		items, err := m.popN(2)
		return true, m.set(items, err)
	case 'u':
		items, err := m.popMark()
		return true, m.set(items, err)
	}
	return false, nil
}

func (m *machine) pushItems(op byte, items []any) error {
	switch op {
	case 't':
		return m.push(tuple(items))
	case 'l':
		return m.push(&list{items})
	}
	d := &Dict{}
	if err := d.add(items); err != nil {
		return err
	}
	return m.push(d)
}

// extend appends items to the list on the stack.
func (m *machine) extend(items []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	l, ok := v.(*list)
	if !ok {
		return fmt.Errorf("items are appended to a %T", v)
	}
	l.items = append(l.items, items...)
	return nil
}

// set adds keys and values, in turn, to the dict on the stack.
func (m *machine) set(items []any, err error) error {
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	d, ok := v.(*Dict)
	if !ok {
		return fmt.Errorf("keys are set in a %T", v)
	}
	return d.add(items)
}

func (d *Dict) add(items []any) error {
	if len(items)%2 != 0 {
		return errors.New("a dict has a key without a value")
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	return nil
}

// memory executes the instructions on the memo and the stack, and those that frame.
func (m *machine) memory(op byte) (known bool, err error) {
	switch op {
	case 0x80: // PROTO
		if p := m.in.Take(1); p != nil && p[0] > 5 {
			return true, fmt.Errorf("protocol %d: Python's are 0 to 5", p[0])
		}
	case 0x95: // FRAME: instructions follow as without it
		m.size(8)
	case '0':
		if len(m.stack) == 0 {
			return true, errStack
		}
		m.stack = m.stack[:len(m.stack)-1]
	case '1':
		_, err = m.popMark()
	case '2':
		v, err := m.top()
		if err != nil {
			return true, err
		}
		return true, m.push(v)
	case 'p', 'g':
		line, err := m.decimal('I')
		id, ok := line.(int64)
		if err != nil || !ok || id < 0 {
			return true, errors.New("a bad number of a memo")
		}
		return true, m.remember(op == 'p', uint64(id))
	case 'q', 'h':
		return true, m.remember(op == 'q', m.number(1))
	case 'r', 'j':
		return true, m.remember(op == 'r', m.number(4))
	case 0x94:
		return true, m.remember(true, uint64(len(m.memo)))
	default:
		return false, nil
	}
	return true, err
}

// remember puts the value on the stack into the memo, or what is in the memo onto the stack.
func (m *machine) remember(put bool, id uint64) error {
	if !put {
		v, ok := m.memo[id]
		if !ok {
			return fmt.Errorf("the memo has no value %d", id)
		}
		return m.push(v)
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	m.memo[id] = v
	return m.take(valueCost)
}
