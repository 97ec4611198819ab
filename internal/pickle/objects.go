package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// The classes and functions whose effect the machine knows, by today's names.
const (
	orderedDict = global("collections.OrderedDict")
	encode      = global("_codecs.encode")
	bytesClass  = global("builtins.bytes")
	byteArray   = global("builtins.bytearray")
	ndarray     = global("numpy.ndarray")
	dtypeClass  = global("numpy.dtype")
	reconstruct = global("numpy._core.multiarray._reconstruct")
	scalar      = global("numpy._core.multiarray.scalar")
	frombuffer  = global("numpy._core.numeric._frombuffer")
)

// known has them by all names that Python and NumPy have given them.
var known = knownNames(orderedDict, encode, bytesClass, byteArray, ndarray, dtypeClass, reconstruct, scalar, frombuffer)

func knownNames(globals ...global) map[string]global {
	known := map[string]global{}
	for _, g := range globals {
		name := string(g)
		known[name] = g
		known[strings.Replace(name, "builtins.", "__builtin__.", 1)] = g
		known[strings.Replace(name, "numpy._core.", "numpy.core.", 1)] = g
	}
	return known
}

// object executes the instructions that refer to classes and functions.
func (m *machine) object(op byte) (known bool, err error) {
	switch op {
	case 'c', 'i':
		module, err := m.line()
		if err != nil {
			return true, err
		}
		name, err := m.line()
		if err != nil {
			return true, err
		}
		if op == 'i' {
			return true, refused(string(module) + "." + string(name))
		}
		return true, m.global(module, name)
	case 0x93:
		names, err := m.popN(2)
		if err != nil {
			return true, err
		}
		module, ok := names[0].(string)
		name, ok2 := names[1].(string)
		if !ok || !ok2 {
			return true, errStack
		}
		return true, m.global([]byte(module), []byte(name))
	case 'R', 0x81:
		args, err := m.popN(2)
		if err != nil {
			return true, err
		}
		return true, m.call(args[0], args[1])
	case 'b':
		state, err := m.pop()
		if err != nil {
			return true, err
		}
		return true, m.build(state)
	case 'P', 'Q', 'o', 0x82, 0x83, 0x84, 0x8f, 0x90, 0x91, 0x92, 0x97, 0x98:
		return true, errors.New(unsupported[op])
	}
	return false, nil
}

var unsupported = map[byte]string{
	'P': "persistent IDs are not supported", 'Q': "persistent IDs are not supported",
	'o': "objects of Python's own classes are not supported", 0x92: "objects of Python's own classes are not supported",
	0x82: "registered extensions are not supported", 0x83: "registered extensions are not supported", 0x84: "registered extensions are not supported",
	0x8f: "sets are not supported", 0x90: "sets are not supported", 0x91: "sets are not supported",
	0x97: "buffers outside of the pickle are not supported", 0x98: "buffers outside of the pickle are not supported",
}

func refused(name string) error {
	if len(name) > 200 {
		name = name[:200] + "..."
	}
	return fmt.Errorf("it refers to %q of Python: dsconv reads only plain values and NumPy's arrays, and never calls anything", name)
}

func (m *machine) global(module, name []byte) error {
	g, ok := known[string(module)+"."+string(name)]
	if !ok {
		return refused(string(module) + "." + string(name))
	}
	return m.push(g)
}

// call pushes what the function would return.
func (m *machine) call(f, arguments any) error {
	g, ok := f.(global)
	args, isTuple := arguments.(tuple)
	if !ok || !isTuple {
		return fmt.Errorf("a %T is called", f)
	}
	v, err := m.apply(g, args)
	if err != nil {
		return fmt.Errorf("%s: %w", string(g), err)
	}
	return m.push(v)
}

func (m *machine) apply(g global, args tuple) (any, error) {
	switch {
	case g == orderedDict && len(args) == 0:
		return &Dict{}, nil
	case g == encode:
		return m.latin1(args)
	case (g == bytesClass || g == byteArray) && len(args) == 0:
		return []byte{}, nil
	case g == byteArray:
		return m.latin1(args)
	case g == dtypeClass && len(args) >= 1:
		return newDType(args[0])
	case g == reconstruct:
		return &Array{}, nil
	case g == scalar && len(args) == 2:
		return number(args[0], args[1])
	case g == frombuffer && len(args) == 4:
		a := &Array{}
		order, _ := Text(args[3])
		return a, a.set(args[2], args[1], order == "F", args[0])
	}
	return nil, fmt.Errorf("it is called with %d arguments, in a way that is not known", len(args))
}

// latin1 returns the bytes of (text, "latin1"), which is how Python 3 writes bytes in protocols 0 to 2, or of
// (bytes,).
func (m *machine) latin1(args tuple) (any, error) {
	if len(args) == 1 {
		if b, ok := args[0].([]byte); ok {
			return b, nil
		}
	}
	if len(args) != 2 || args[1] != "latin1" && args[1] != "latin-1" {
		return nil, errors.New("want text and latin1")
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, errors.New("want text and latin1")
	}
	if err := m.take(len(text)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 255 {
			return nil, fmt.Errorf("%q is not Latin-1", r)
		}
		b = append(b, byte(r))
	}
	return b, nil
}

// build sets the state of the object on the stack.
func (m *machine) build(state any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	s, ok := state.(tuple)
	switch v := v.(type) {
	case *dtype:
		return v.set(s)
	case *Array:
		if !ok || len(s) != 5 || v.built {
			return errors.New("an array's state is not NumPy's")
		}
		return v.set(s[1], s[2], s[3] == true || s[3] == int64(1), s[4])
	}
	return fmt.Errorf("a %T has no state", v)
}

// number returns NumPy's scalar of these bytes.
func number(kind, data any) (any, error) {
	a := &Array{}
	if err := a.set(tuple{}, kind, false, data); err != nil {
		return nil, err
	}
	var wide [8]byte
	copy(wide[:], a.Data)
	x := binary.LittleEndian.Uint64(wide[:])
	if len(a.Data) == 0 || len(a.Data) > 8 || a.DType[0] == '>' {
		return nil, fmt.Errorf("a number of type %s", a.DType)
	}
	unused := 64 - 8*len(a.Data)
	switch a.DType[1:] {
	case "b1":
		return x != 0, nil
	case "u1", "u2", "u4", "u8":
		if int64(x) < 0 {
			return nil, errors.New("an integer of more than 64 bits")
		}
		return int64(x), nil
	case "i1", "i2", "i4", "i8":
		return int64(x<<unused) >> unused, nil
	case "f4":
		return float64(math.Float32frombits(uint32(x))), nil
	case "f8":
		return math.Float64frombits(x), nil
	}
	return nil, fmt.Errorf("a number of type %s", a.DType)
}
