package tfrecord

import (
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// The features with a field's value. i is the field's position in the schema.

// content is a feature whose payload is the value's Data.
func content(i int, name string, kind listKind, when func(v *formats.Value) bool) feature {
	return feature{
		name: name, kind: kind,
		payload: func(_ []byte, s *formats.Sample) ([]byte, []byte, bool) {
			return nil, s.Values[i].Data, when(&s.Values[i])
		},
		set: func(s *formats.Sample, payload []byte, lend bool) error {
			if lend {
				s.Values[i].Data = payload
			} else {
				s.Values[i].Copy(payload)
			}
			return nil
		},
	}
}

func always(*formats.Value) bool { return true }

func plain(i int, name string) feature {
	f := content(i, name, bytesList, always)
	f.required = true
	f.set = withStep(f.set, func(s *formats.Sample) { s.Values[i].Encoding = formats.Plain })
	return f
}

func withStep(set func(*formats.Sample, []byte, bool) error, also func(*formats.Sample)) func(*formats.Sample, []byte, bool) error {
	return func(s *formats.Sample, payload []byte, lend bool) error {
		also(s)
		return set(s, payload, lend)
	}
}

// pixels returns the features of an image or mask without its shape.
func pixels(i int, data, format, dtype string) []feature {
	encoded := content(i, data, bytesList, always)
	encoded.required = true
	return []feature{
		encoded,
		{
			name: format, kind: bytesList, required: true,
			payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
				return append(b, s.Values[i].Encoding...), nil, true
			},
			set: func(s *formats.Sample, payload []byte, _ bool) (err error) {
				s.Values[i].Encoding, err = oneOf(payload, formats.ImageEncodings)
				return err
			},
		},
		elementType(i, dtype, isRaw),
	}
}

// floats is a feature of float32 (N,4).
func floats(i int, name string) feature {
	f := content(i, name, floatList, always)
	f.required = true
	f.set = func(set func(*formats.Sample, []byte, bool) error) func(*formats.Sample, []byte, bool) error {
		return func(s *formats.Sample, payload []byte, lend bool) error {
			v := &s.Values[i]
			v.Encoding, v.DType = formats.Raw, formats.Float32
			v.SetShape(len(payload)/16, 4)
			return set(s, payload, lend)
		}
	}(f.set)
	return f
}

// number is a feature of one float32.
func number(i int, name string) feature {
	f := content(i, name, floatList, always)
	f.required = true
	f.set = withStep(f.set, func(s *formats.Sample) {
		v := &s.Values[i]
		v.Encoding, v.DType = formats.Raw, formats.Float32
		v.SetShape()
	})
	return f
}

// tensor returns the features of an array: one of three by element type, and the element type
// itself if the feature is bytes.
func tensor(i int, name string) []feature {
	is := func(ts ...formats.DType) func(v *formats.Value) bool {
		return func(v *formats.Value) bool { return v.DType == ts[0] || v.DType == ts[len(ts)-1] }
	}
	typed := func(f feature, t formats.DType) feature {
		f.set = withStep(f.set, func(s *formats.Sample) { s.Values[i].Encoding, s.Values[i].DType = formats.Raw, t })
		return f
	}
	raw := is(formats.Uint8, formats.Uint16)
	return []feature{
		typed(content(i, name, bytesList, raw), formats.Uint8), elementType(i, name+"/dtype", raw),
		typed(content(i, name, floatList, is(formats.Float32)), formats.Float32),
		typed(integers(i, name, is(formats.Int64)), formats.Int64),
	}
}

// integers is a feature of int64 elements.
func integers(i int, name string, when func(v *formats.Value) bool) feature {
	return feature{
		name: name, kind: int64List,
		payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
			for p := s.Values[i].Data; len(p) >= 8; p = p[8:] {
				b = binary.AppendUvarint(b, binary.LittleEndian.Uint64(p))
			}
			return b, nil, when(&s.Values[i])
		},
		set: func(s *formats.Sample, payload []byte, lend bool) error {
			v := &s.Values[i]
			b := buffer(v, lend)
			for len(payload) > 0 {
				x, rest, err := nextInt(payload)
				if err != nil {
					return err
				}
				b, payload = binary.LittleEndian.AppendUint64(b, uint64(x)), rest
			}
			set(v, b, lend)
			return nil
		},
	}
}

// buffer returns memory for v's Data, which set then sets; with lend not that of an earlier Read.
func buffer(v *formats.Value, lend bool) []byte {
	if lend {
		return nil
	}
	return v.Buffer()
}

func set(v *formats.Value, b []byte, lend bool) {
	if lend {
		v.Data = b
	} else {
		v.SetOwn(b)
	}
}

func label(i int, name string) feature {
	f := integers(i, name, func(v *formats.Value) bool {
		x, _ := v.Int64()
		return x != formats.NoLabel
	})
	f.set = func(s *formats.Sample, payload []byte, lend bool) error {
		x, rest, err := nextInt(payload)
		if err != nil || len(rest) > 0 {
			return errExample
		}
		value.SetLabel(&s.Values[i], x, lend)
		return nil
	}
	return f
}

func multiHot(i int, name string) feature {
	return feature{
		name: name, kind: int64List, required: true,
		payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
			for _, x := range s.Values[i].Data {
				b = binary.AppendUvarint(b, uint64(x))
			}
			return b, nil, true
		},
		set: func(s *formats.Sample, payload []byte, lend bool) error {
			v := &s.Values[i]
			b := buffer(v, lend)
			for len(payload) > 0 {
				x, rest, err := nextInt(payload)
				if err != nil || x < 0 || x > 255 {
					return errExample
				}
				b, payload = append(b, byte(x)), rest
			}
			set(v, b, lend)
			v.Encoding, v.DType = formats.Raw, formats.Uint8
			v.SetShape(len(b))
			return nil
		},
	}
}

func isRaw(v *formats.Value) bool {
	return v.Encoding == formats.Raw || v.Encoding == formats.RawZstd
}

func elementType(i int, name string, when func(v *formats.Value) bool) feature {
	return feature{
		name: name, kind: bytesList,
		payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
			return append(b, s.Values[i].DType...), nil, when(&s.Values[i])
		},
		set: func(s *formats.Sample, payload []byte, _ bool) (err error) {
			s.Values[i].DType, err = oneOf(payload, dtypes)
			return err
		},
	}
}

// shape is the feature of a raw value's shape.
func shape(i int, name string) feature {
	return feature{
		name: name, kind: int64List,
		payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
			for _, d := range s.Values[i].Shape {
				b = binary.AppendUvarint(b, uint64(d))
			}
			return b, nil, isRaw(&s.Values[i])
		},
		set: func(s *formats.Sample, payload []byte, _ bool) error {
			v := &s.Values[i]
			for v.SetShape(); len(payload) > 0; {
				x, rest, err := nextInt(payload)
				if err != nil || x < 0 || x > 1<<40 {
					return errExample
				}
				v.Shape, payload = append(v.Shape, int(x)), rest
			}
			v.SetShape(v.Shape...)
			return nil
		},
	}
}

// dimension is height, width or channels of the designated image, for other programs: dsconv
// reads the shape from the manifest.
func dimension(i, axis int, name string) feature {
	return feature{name: name, kind: int64List, payload: func(b []byte, s *formats.Sample) ([]byte, []byte, bool) {
		if len(s.Values[i].Shape) != 3 {
			return nil, nil, false
		}
		return binary.AppendUvarint(b, uint64(s.Values[i].Shape[axis])), nil, true
	}}
}

var dtypes = []formats.DType{formats.Uint8, formats.Uint16, formats.Int64, formats.Float32}

func oneOf[T ~string](payload []byte, allowed []T) (T, error) {
	for _, w := range allowed {
		if string(payload) == string(w) {
			return w, nil
		}
	}
	return "", fmt.Errorf("%w: %q", errExample, payload)
}
