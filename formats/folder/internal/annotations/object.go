package annotations

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
)

// The names of the fields of objects in an image: where they are, and which class each is of.
const (
	BoxesField     = "boxes"
	boxLabelsField = "box_labels"
)

// MaxBoxFile bounds the size of a file with the boxes of one image.
const MaxBoxFile = 16 << 20

// Object is one object in an image. Its box is x0 y0 x1 y1 in pixels of the image as the annotations see it.
type Object struct {
	box   [4]float32
	class int64
	// flag is COCO's iscrowd or VOC's difficult.
	flag bool
}

// objectSchema returns the fields of objects; flag is the name of the field for their flags, "" if none is set.
func objectSchema(classes []string, flag string) formats.Schema {
	s := formats.Schema{
		{Name: BoxesField, Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		{Name: boxLabelsField, Kind: formats.Array, DType: formats.Int64, Shape: []int{-1}, Classes: classes},
	}
	if flag != "" {
		s = append(s, formats.Field{Name: flag, Kind: formats.Array, DType: formats.Uint8, Shape: []int{-1}})
	}
	return s
}

// SetObjects sets the values of the fields of objectSchema, for the stored image.
func SetObjects(p *Picture, values []formats.Value, list []Object) {
	boxes, classes := values[0].Alloc(16 * len(list))[:0], values[1].Alloc(8 * len(list))[:0]
	for i := range list {
		for _, x := range p.stored(list[i].box) {
			boxes = binary.LittleEndian.AppendUint32(boxes, math.Float32bits(x))
		}
		classes = binary.LittleEndian.AppendUint64(classes, uint64(list[i].class))
	}
	values[0].Encoding, values[0].DType = formats.Raw, formats.Float32
	values[0].SetShape(len(list), 4)
	values[1].Encoding, values[1].DType = formats.Raw, formats.Int64
	values[1].SetShape(len(list))
	if len(values) < 3 {
		return
	}
	flags := values[2].Alloc(len(list))
	for i := range list {
		flags[i] = 0
		if list[i].flag {
			flags[i] = 1
		}
	}
	values[2].Encoding, values[2].DType = formats.Raw, formats.Uint8
	values[2].SetShape(len(list))
}

// checkBox returns an error about a box that has no place in any image.
func checkBox(b [4]float32) error {
	for _, x := range b {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("a box has a coordinate that is no finite number")
		}
	}
	if b[2] < b[0] || b[3] < b[1] {
		return fmt.Errorf("a box has a negative width or height: %v", b)
	}
	return nil
}
