// Command fields writes a dataset with a field of each kind, for the Python loader's tests: 12
// samples, whose values are their index.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
)

const samples, side = 12, 8

var schema = formats.Schema{
	{Name: "photo", Kind: formats.Image},
	{Name: "mask", Kind: formats.Mask, DType: formats.Uint8},
	{Name: "boxes", Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
	{Name: "class", Kind: formats.Label, Classes: []string{"a", "b", "c"}},
	{Name: "tags", Kind: formats.MultiHot, Classes: []string{"x", "y", "z"}},
	{Name: "points", Kind: formats.Array, DType: formats.Int64, Shape: []int{-1, 2}},
	{Name: "pose", Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 2}},
	{Name: "caption", Kind: formats.Text},
	{Name: "extra", Kind: formats.JSON},
	{Name: "blob", Kind: formats.Bytes},
}

func main() {
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(path string) error {
	format, err := dsconv.Formats().ByPath(path)
	if err != nil {
		return err
	}
	w, err := format.(formats.WritableFormat).Create(path, formats.Meta{Version: formats.Version, Format: format.Name(), Schema: schema}, formats.CreateOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	for i := range samples {
		if err := w.Write(sample(i)); err != nil {
			return err
		}
	}
	return w.Commit()
}

func sample(i int) *formats.Sample {
	n, f := byte(i), float32(i)
	var class formats.Value
	class.SetInt64(int64(i % 3))
	pixels := func(channels int) formats.Value {
		return tensor(formats.Uint8, bytes.Repeat([]byte{n}, side*side*channels), side, side, channels)
	}
	return &formats.Sample{Key: fmt.Sprintf("sample/%02d", i), Values: []formats.Value{
		pixels(3), pixels(1),
		tensor(formats.Float32, repeat([]float32{1, 2, 3, 4}, i%3), i%3, 4),
		class, tensor(formats.Uint8, []byte{n & 1, n >> 1 & 1, n >> 2 & 1}, 3),
		tensor(formats.Int64, repeat([]int64{int64(i), -1}, 1+i%2), 1+i%2, 2),
		tensor(formats.Float32, []float32{f, f, f, f}, 2, 2),
		{Data: fmt.Appendf(nil, "caption %d, größer", i), Encoding: formats.Plain},
		{Data: fmt.Appendf(nil, `{"i": %d}`, i), Encoding: formats.Plain},
		{Data: []byte{0, n, 255}, Encoding: formats.Plain},
	}}
}

func repeat[T any](row []T, times int) (all []T) {
	for range times {
		all = append(all, row...)
	}
	return all
}

func tensor[T any](dtype formats.DType, elements []T, shape ...int) formats.Value {
	var data bytes.Buffer
	_ = binary.Write(&data, binary.LittleEndian, elements) // a buffer takes all
	return formats.Value{Data: data.Bytes(), Encoding: formats.Raw, DType: dtype, Shape: shape}
}
