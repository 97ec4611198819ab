package tfrecord

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// How decodeFeature reads the bytes that a scan located.
const (
	asFrame  = "frame\x00" // the image in a frame; the name of its feature follows
	asInts   = "ints"
	asFloats = "floats"
	asNumber = "number"
	asBoxes  = "boxes"
	asTexts  = "texts"
	asText   = "text"
)

// maxInts is the most integers of a value.
const maxInts = 1 << 25

// decodeFeature implements foreign.Source.
func decodeFeature(as string, raw []byte, _ []int) (v formats.Value, err error) {
	switch v.Encoding = formats.Raw; as {
	case asInts:
		v.DType = formats.Int64
		list := tfexample.ListOf(tfexample.Ints, raw)
		n := 0
		if n, err = list.Len(); err != nil || n > maxInts {
			return v, cmp.Or(err, fmt.Errorf("%w: a list of %d integers, the limit is %d", formats.ErrSchema, n, maxInts))
		}
		v.Data = make([]byte, 0, 8*n) // up to 8 times the bytes of the list
		err = list.Ints(func(x int64) { v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(x)) })
		v.Shape = []int{len(v.Data) / 8}
	case asFloats, asBoxes, asNumber:
		v.DType = formats.Float32
		err = tfexample.ListOf(tfexample.Floats, raw).Floats(func(x float32) { v.Data = binary.LittleEndian.AppendUint32(v.Data, math.Float32bits(x)) })
		if err == nil {
			err = shapeFloats(as, &v)
		}
	case asTexts:
		v.Encoding = formats.Plain
		v.Data, err = texts(tfexample.ListOf(tfexample.Bytes, raw))
	case asText:
		if v.Encoding, v.Data = formats.Plain, raw; !utf8.Valid(raw) {
			err = fmt.Errorf("%w: the text is not UTF-8", formats.ErrSchema)
		}
	default:
		return imageIn(as, raw)
	}
	return v, err
}

func shapeFloats(as string, v *formats.Value) error {
	n := len(v.Data) / 4
	switch {
	case as == asFloats:
		v.Shape = []int{n}
	case as == asBoxes && n%4 == 0:
		v.Shape = []int{n / 4, 4}
	case as == asBoxes:
		return fmt.Errorf("%w: %d numbers are not boxes of four", formats.ErrSchema, n)
	case n == 0:
		v.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	case n > 1:
		return fmt.Errorf("%w: there are %d numbers, but one in the first examples", formats.ErrSchema, n)
	}
	return nil
}

// texts returns a list as a JSON array of strings.
func texts(f tfexample.Feature) ([]byte, error) {
	list, valid := []string{}, true
	err := f.EachBytes(func(b []byte) {
		list = append(list, string(b))
		valid = valid && utf8.Valid(b)
	})
	if err == nil && !valid {
		err = fmt.Errorf("%w: a text is not UTF-8", formats.ErrSchema)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// imageIn returns the image in a frame.
func imageIn(as string, frame []byte) (v formats.Value, err error) {
	feature, ok := strings.CutPrefix(as, asFrame)
	if !ok {
		return v, fmt.Errorf("%w: its description has the field %q", formats.ErrDamaged, as)
	}
	example, err := tfexample.Unframe(frame, false)
	if err != nil {
		return v, err
	}
	var image tfexample.Feature
	err = tfexample.Each(example, func(name []byte, f tfexample.Feature) error {
		if string(name) == feature {
			image = f
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	if v.Data, _, err = image.Bytes(0); err != nil {
		return v, err
	}
	if v.Encoding = formats.Sniff(v.Data); v.Encoding == "" {
		return v, notImage(feature, image)
	}
	return v, nil
}
