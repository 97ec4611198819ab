package pickle

// List is a Python list. It may contain itself.
type List struct{ Items []any }

// Tuple is a Python tuple.
type Tuple []any

// Dict is a Python dict. Keys may repeat: the last one counts.
type Dict struct{ Keys, Values []any }

// Get returns the value of a key that is text, whether Python 2 or 3 wrote it.
func (d *Dict) Get(key string) (any, bool) {
	for i := len(d.Keys) - 1; i >= 0; i-- {
		if s, ok := Text(d.Keys[i]); ok && s == key {
			return d.Values[i], true
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
	case *List:
		return v.Items, true
	case Tuple:
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
