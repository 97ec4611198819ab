package formats_test

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// grays is a Dataset of one's own: ten images of 8x8 gray pixels. dsconv.PackDataset packs it, and
// reader.New loads it.
type grays struct{}

func (grays) Len() int     { return 10 }
func (grays) Close() error { return nil }

func (grays) Meta() *formats.Meta {
	return &formats.Meta{Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"dark", "bright"}},
	}}
}

func (grays) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprintf("gray%03d", i), Label: int64(i / 5)}, nil
}

func (d grays) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	s.Key = in.Key
	s.Resize(2)
	image := &s.Values[0]
	image.Encoding, image.DType = formats.Raw, formats.Uint8
	image.SetShape(8, 8, 1)
	for k := range image.Alloc(8 * 8) {
		image.Data[k] = byte(25 * i)
	}
	s.Values[1].SetInt64(in.Label)
	return nil
}

func ExampleDataset() {
	var ds formats.Dataset = grays{}
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			fmt.Println(err)
			return
		}
	}
	label, _ := s.Values[1].Int64()
	fmt.Println(s.Key, s.Values[0].Shape, s.Values[0].Data[0], ds.Meta().Classes()[label])
	// Output: gray009 [8 8 1] 225 bright
}
