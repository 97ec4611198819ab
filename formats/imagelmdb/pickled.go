package imagelmdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/pickle"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// item is what one value of the database has.
type item struct {
	image formats.Value // Data points into the value, or is memory of its own
	label int64
	float float32
	class string // the class's name, where that is stored
	has   labelForm
}

// labelForm is how labels are stored.
type labelForm int

const (
	noLabel labelForm = iota
	numbers
	floats
	names
)

func (f labelForm) String() string {
	return [...]string{"no label", "a whole number", "a float", "a name"}[f]
}

// memoryOf is what a pickle of that many bytes may take.
func memoryOf(bytes int) int64 { return 64<<20 + 4*int64(bytes) }

// isPickle reports whether b begins like a pickle of protocol 2 or later.
func isPickle(b []byte) bool { return len(b) > 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 }

// errArrow is about values of scripts that were written for old versions of pyarrow.
var errArrow = fmt.Errorf("%w: its values were written by pyarrow.serialize, which pyarrow 14 removed and only older ones read: with pyarrow < 14, "+
	"read each value by pyarrow.deserialize and put pickle.dumps of it instead", formats.ErrSchema)

// isArrow reports whether b is of pyarrow.serialize: some counts, then a message of Arrow's stream format, which
// begins with a continuation marker.
func isArrow(b []byte) bool {
	for at := 4; at <= 24 && at+4 <= len(b); at += 4 {
		if binary.LittleEndian.Uint32(b[at-4:]) > 1<<16 {
			return false
		}
		if binary.LittleEndian.Uint32(b[at:]) == 0xffffffff {
			return true
		}
	}
	return false
}

// unpickle reads a pickled sample: (image, label), [image, label], {"image": ..., "label": ...} or the image
// alone. keys names the parts of a dict or their numbers, if a map says so.
func unpickle(b []byte, imageKey, labelKey string) (it item, err error) {
	v, err := pickle.Load(b, memoryOf(len(b)))
	if err != nil {
		return it, err
	}
	image, label, err := parts(v, imageKey, labelKey)
	if err != nil {
		return it, err
	}
	if it.image, err = imageOf(image); err != nil {
		return it, err
	}
	if err = it.setLabel(label); imageKey != "" && labelKey == "" {
		err = nil // whoever names the image alone can do without the label
	}
	return it, err
}

// The usual keys of dicts.
var (
	imageKeys = []string{"image", "img", "data", "jpeg", "jpg", "png", "x"}
	labelKeys = []string{"label", "target", "class", "cls", "y"}
)

// parts returns the image and the label in a value; label is nil if there is none.
func parts(v any, imageKey, labelKey string) (image, label any, err error) {
	if d, ok := v.(*pickle.Dict); ok {
		if image, err = entry(d, imageKey, imageKeys, "image"); err != nil {
			return nil, nil, err
		}
		label, err = entry(d, labelKey, labelKeys, "label")
		return image, label, err
	}
	list, ok := pickle.Sequence(v)
	if !ok {
		return v, nil, nil
	}
	at := func(key string, usual int) (any, error) {
		i := usual
		if key != "" {
			if i, err = strconv.Atoi(key); err != nil || i < 0 || i >= len(list) {
				return nil, fmt.Errorf("%w: the map has %s, but the values are tuples of %d: give a number from 0", formats.ErrSchema, key, len(list))
			}
		}
		if i >= len(list) {
			return nil, nil
		}
		return list[i], nil
	}
	if image, err = at(imageKey, 0); err == nil && (imageKey == "" || labelKey != "") {
		label, err = at(labelKey, 1)
	}
	return image, label, err
}

// entry returns the value of a key of a dict: the one that a map names, else the first usual one.
func entry(d *pickle.Dict, key string, usual []string, field string) (any, error) {
	if key != "" {
		v, ok := d.Get(key)
		if !ok {
			return nil, fmt.Errorf("%w: the map has %s=%s, but a value has no such key", formats.ErrSchema, field, key)
		}
		return v, nil
	}
	for _, k := range usual {
		if v, ok := d.Get(k); ok {
			return v, nil
		}
	}
	if field == "label" {
		return nil, nil
	}
	return nil, fmt.Errorf("%w: the values are dicts without an image: say which key has it: --map image=KEY", formats.ErrSchema)
}

// imageOf returns an image file or an array as a value.
func imageOf(v any) (formats.Value, error) {
	switch v := v.(type) {
	case []byte:
		if e := formats.Sniff(v); e != "" {
			return formats.Value{Data: v, Encoding: e}, nil
		}
		return formats.Value{}, errors.New("the bytes are not an image file that dsconv reads")
	case *pickle.Array:
		return arrayImage(v)
	}
	return formats.Value{}, fmt.Errorf("%w: there is %T instead of an image's bytes or a NumPy array", formats.ErrSchema, v)
}

// arrayImage returns pixels: height, width, and channels if there are any.
func arrayImage(a *pickle.Array) (v formats.Value, err error) {
	switch a.DType {
	case "|u1":
		v.DType = formats.Uint8
	case "<u2":
		v.DType = formats.Uint16
	default:
		return v, fmt.Errorf("%w: an image of elements %q; uint8 and uint16 are read", formats.ErrSchema, a.DType)
	}
	if len(a.Shape) == 1 && v.DType == formats.Uint8 { // an encoded image as an array of bytes
		return imageOf(a.Data)
	}
	shape := append([]int{}, a.Shape...)
	if len(shape) == 2 {
		shape = append(shape, 1)
	}
	if len(shape) != 3 || shape[2] < 1 || shape[2] > 4 || a.Fortran {
		return v, fmt.Errorf("%w: an array of shape %v is not an image: height, width, channels", formats.ErrSchema, a.Shape)
	}
	v.Data, v.Encoding, v.Shape = a.Data, formats.Raw, shape
	return v, nil
}

// npyImage returns the pixels in what numpy.save wrote.
func npyImage(b []byte) (v formats.Value, err error) {
	t, shape, at, err := npy.Parse(b)
	if err != nil {
		return v, err
	}
	if len(shape) == 2 {
		shape = append(shape, 1)
	}
	if len(shape) != 3 || shape[2] < 1 || shape[2] > 4 || t != formats.Uint8 && t != formats.Uint16 {
		return v, fmt.Errorf("%w: an array of %s with the shape %v is not an image: height, width, channels", formats.ErrSchema, t, shape)
	}
	return formats.Value{Data: b[at:], Encoding: formats.Raw, DType: t, Shape: shape}, nil
}

// setLabel sets the label: a number, a name, or none.
func (it *item) setLabel(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		it.label, it.has = v, numbers
		return nil
	case float64:
		it.float, it.has = float32(v), floats
		return nil
	case bool:
		if it.has = numbers; v {
			it.label = 1
		}
		return nil
	case *pickle.Array:
		if x, ok := scalar(v); ok {
			it.label, it.has = x, numbers
			return nil
		}
		if x, ok := floatScalar(v); ok {
			it.float, it.has = x, floats
			return nil
		}
	}
	if s, ok := pickle.Text(v); ok {
		it.class, it.has = s, names
		return nil
	}
	return fmt.Errorf("%w: the label is %T; a number or a name is read: name another one by --map image=KEY,label=KEY, or the image alone by --map image=KEY, "+
		"where KEY is a key of a dict or a position of a tuple, from 0", formats.ErrSchema, v)
}

// scalar returns the only number of an array of integers.
func scalar(a *pickle.Array) (int64, bool) {
	switch {
	case a.DType == "<i8" && len(a.Data) == 8:
		return int64(binary.LittleEndian.Uint64(a.Data)), true
	case a.DType == "<i4" && len(a.Data) == 4:
		return int64(int32(binary.LittleEndian.Uint32(a.Data))), true
	case a.DType == "|u1" && len(a.Data) == 1:
		return int64(a.Data[0]), true
	}
	return 0, false
}

// floatScalar returns the only number of an array of floats.
func floatScalar(a *pickle.Array) (float32, bool) {
	switch {
	case a.DType == "<f8" && len(a.Data) == 8:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(a.Data))), true
	case a.DType == "<f4" && len(a.Data) == 4:
		return math.Float32frombits(binary.LittleEndian.Uint32(a.Data)), true
	}
	return 0, false
}
