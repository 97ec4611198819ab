package items

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/tinylib/msgp/msgp"

	"github.com/dsconv/dsconv/formats"
)

// sampleError is an error that the program had with one sample. The next one can be read.
type sampleError struct {
	text  string
	cause error // a syscall.Errno, or nil; see formats.Unreadable
}

func (e sampleError) Error() string { return e.text }

func (e sampleError) Unwrap() error { return e.cause }

// protocolError is an answer that no dsconv of this version sends.
func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: what the program sends is no sample: %w", formats.ErrSchema, fmt.Errorf(format, args...))
}

// readAnswer reads an answer into s. It is formats.ErrEnd, a *formats.Keep, or a sampleError if the answer is that.
func readAnswer(r *msgp.Reader, schema formats.Schema, s *formats.Sample) error {
	switch t, err := r.NextType(); {
	case err != nil:
		return err
	case t == msgp.NilType:
		return errors.Join(r.ReadNil(), formats.ErrEnd)
	case t == msgp.BinType:
		state, err := r.ReadBytesLimit(nil, maxText)
		if err != nil {
			return err
		}
		return &formats.Keep{State: state}
	}
	n, err := r.ReadArrayHeader()
	if err != nil {
		return err
	}
	var head [3]string // key, split, error
	for k := range min(int(n), len(head)) {
		if head[k], err = readText(r); err != nil {
			return err
		}
	}
	s.Key, s.Split = head[0], head[1]
	if head[2] != "" && int(n) == len(head)+1 {
		errno, err := r.ReadInt()
		if err != nil {
			return err
		}
		if errno <= 0 {
			return sampleError{text: head[2]}
		}
		return sampleError{head[2], syscall.Errno(errno)}
	}
	if head[2] != "" || int(n) != len(head)+len(schema) {
		return protocolError("%d values for %d fields", int(n)-len(head), len(schema))
	}
	s.Resize(len(schema))
	for k := range schema {
		if err := readValue(r, &schema[k], &s.Values[k]); err != nil {
			return fmt.Errorf("field %s: %w", schema[k].Name, err)
		}
	}
	return nil
}

// readText reads a string, or nil as "".
func readText(r *msgp.Reader) (string, error) {
	if t, err := r.NextType(); err != nil || t == msgp.NilType {
		return "", errors.Join(err, r.ReadNil())
	}
	return r.ReadString()
}

// readValue reads the value of field f into v's own memory.
func readValue(r *msgp.Reader, f *formats.Field, v *formats.Value) error {
	v.DType, v.Encoding = "", formats.Plain
	v.SetShape()
	v.Shape = nil
	t, err := r.NextType()
	if err != nil {
		return err
	}
	switch t {
	case msgp.BinType:
		n, err := r.ReadBytesHeader()
		if err == nil {
			err = readData(r, v, int(n))
		}
		if f.Kind == formats.Image || f.Kind == formats.Mask {
			v.Encoding = formats.Sniff(v.Data) // "" is an error of the sample when it is processed
		}
		return err
	case msgp.StrType:
		n, err := r.ReadStringHeader()
		if err == nil {
			err = readData(r, v, int(n))
		}
		return err
	case msgp.IntType, msgp.UintType:
		x, err := r.ReadInt64()
		v.SetInt64(x)
		return err
	case msgp.Float32Type, msgp.Float64Type:
		x, err := r.ReadFloat64()
		v.SetFloat32(float32(x))
		return err
	case msgp.ArrayType:
		return readTensor(r, v)
	}
	return protocolError("a value of type %s", t)
}

// readTensor reads element type, shape and elements.
func readTensor(r *msgp.Reader, v *formats.Value) error {
	n, err := r.ReadArrayHeader()
	if err != nil {
		return err
	}
	if n != 3 {
		return protocolError("a tensor of %d parts", n)
	}
	dtype, err := r.ReadString()
	if err != nil {
		return err
	}
	axes, err := r.ReadArrayHeader()
	if err != nil {
		return err
	}
	if axes > 64 {
		return protocolError("a tensor of %d dimensions", axes)
	}
	shape := make([]int, axes)
	for k := range shape {
		if shape[k], err = r.ReadInt(); err != nil {
			return err
		}
	}
	size, err := r.ReadBytesHeader()
	if err != nil {
		return err
	}
	v.Encoding, v.DType = formats.Raw, formats.DType(dtype)
	v.SetShape(shape...)
	return readData(r, v, int(size))
}

// readData reads n bytes. Memory for more than a step is made as they come.
func readData(r *msgp.Reader, v *formats.Value, n int) error {
	const step = 16 << 20
	b := v.Buffer()
	for len(b) < n {
		at := len(b)
		more := min(n-at, max(step, at, cap(b)-at))
		b = slices.Grow(b, more)[:at+more]
		if _, err := r.ReadFull(b[at:]); err != nil {
			return err
		}
	}
	v.SetOwn(b)
	return nil
}
