package value

import (
	"errors"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestCheckValue(t *testing.T) {
	tensor := func(t formats.DType, n int, shape ...int) formats.Value {
		return formats.Value{Data: make([]byte, n), Encoding: formats.Raw, DType: t, Shape: shape}
	}
	jpeg := formats.Value{Data: []byte("x"), Encoding: formats.JPEG}
	for name, c := range map[string]struct {
		field formats.Field
		value formats.Value
		ok    bool
	}{
		"jpeg":                  {formats.Field{Kind: formats.Image}, jpeg, true},
		"jpeg as an array":      {formats.Field{Kind: formats.Array}, jpeg, false},
		"jpeg as text":          {formats.Field{Kind: formats.Text}, jpeg, false},
		"unknown encoding":      {formats.Field{Kind: formats.Image}, formats.Value{Encoding: "heic"}, false},
		"raw image":             {formats.Field{Kind: formats.Image}, tensor(formats.Uint16, 12, 2, 3, 1), true},
		"raw image of two axes": {formats.Field{Kind: formats.Image}, tensor(formats.Uint16, 12, 2, 3), false},
		"raw image too short":   {formats.Field{Kind: formats.Mask}, tensor(formats.Uint16, 11, 2, 3, 1), false},
		"raw without type":      {formats.Field{Kind: formats.Image}, tensor("", 0, 0, 0, 0), false},
		"overflow":              {formats.Field{Kind: formats.Array}, tensor(formats.Uint8, 0, 1<<32, 1<<32), false},
		"no boxes":              {formats.Field{Kind: formats.Boxes}, tensor(formats.Float32, 0, 0, 4), true},
		"boxes of five":         {formats.Field{Kind: formats.Boxes}, tensor(formats.Float32, 20, 1, 5), false},
		"boxes of uint16":       {formats.Field{Kind: formats.Boxes}, tensor(formats.Uint16, 8, 1, 4), false},
		"multi-hot":             {formats.Field{Kind: formats.MultiHot}, tensor(formats.Uint8, 7, 7), true},
		"multi-hot of int64":    {formats.Field{Kind: formats.MultiHot}, tensor(formats.Int64, 56, 7), false},
		"label":                 {formats.Field{Kind: formats.Label}, tensor(formats.Int64, 8), true},
		"label of float32":      {formats.Field{Kind: formats.Label}, tensor(formats.Float32, 4), false},
		"free axis":             {formats.Field{Kind: formats.Array, Shape: []int{-1, 2}}, tensor(formats.Uint8, 6, 3, 2), true},
		"fixed axis":            {formats.Field{Kind: formats.Array, Shape: []int{-1, 3}}, tensor(formats.Uint8, 6, 3, 2), false},
		"axes":                  {formats.Field{Kind: formats.Array, Shape: []int{-1}}, tensor(formats.Uint8, 6, 3, 2), false},
		"fixed type":            {formats.Field{Kind: formats.Array, DType: formats.Int64}, tensor(formats.Uint8, 6, 3, 2), false},
	} {
		err := CheckValue(&c.field, &c.value)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, formats.ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
