package pickle

// list is a Python list. It may contain itself.
type list struct{ items []any }

// tuple is a Python tuple.
type tuple []any

// Dict is a Python dict. Keys may repeat: the last one counts.
type Dict struct{ keys, values []any }

// Get returns the value of a key that is text, whether Python 2 or 3 wrote it.
func (d *Dict) Get(key string) (any, bool) {
	for i := len(d.keys) - 1; i >= 0; i-- {
		if s, ok := Text(d.keys[i]); ok && s == key {
			return d.values[i], true
		}
	}
	return nil, false
}

// Text returns a str of Python 2 or 3, or bytes, as a string.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// Sequence returns the items of a list or a tuple, which stay v's memory.
func Sequence(v any) ([]any, bool) {
	switch v := v.(type) {
	case *list:
		return v.items, true
	case tuple:
		return v, true
	}
	return nil, false
}

// Array is a NumPy array of numbers. Data has exactly the bytes of Shape, and may be a part of the pickle.
type Array struct {
	// DType is NumPy's name with the byte order, such as "|u1" or "<i8".
	DType   string
	Shape   []int
	Fortran bool // the first axis changes fastest
	Data    []byte

	built bool
}

// global is a class or function that the pickle refers to, one of those in known.
type global string

// dtype is a NumPy element type that is being built.
type dtype struct{ kind, order string }

// mark is what MARK puts on the stack.
type mark struct{}
