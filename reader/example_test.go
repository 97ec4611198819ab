package reader_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// squares is a dataset of raw 8x8 images, each of one grey; any opened format takes its
// place.
type squares struct{}

func (squares) Meta() *formats.Meta {
	return &formats.Meta{Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"even", "odd"}},
	}}
}
func (squares) Len() int     { return 10 }
func (squares) Close() error { return nil }
func (squares) Info(i int) (formats.Info, error) {
	return formats.Info{Key: fmt.Sprintf("square%d", i), Label: int64(i % 2)}, nil
}

func (squares) Read(i int, s *formats.Sample) error {
	s.Key = fmt.Sprintf("square%d", i)
	s.Resize(2)
	pixels := make([]byte, 8*8*3)
	for j := range pixels {
		pixels[j] = byte(i)
	}
	s.Values[0].Set(formats.Value{Data: pixels, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{8, 8, 3}})
	s.Values[1].SetInt64(int64(i % 2))
	return nil
}

func Example() {
	ops, err := augment.Parse("rrc:4,flip,normalize")
	if err != nil {
		log.Fatal(err)
	}
	loader, err := reader.New(squares{}, reader.Config{
		BatchSize: 4, Shuffle: true, Seed: 1, Transforms: ops,
		DType: formats.Float32, Layout: pixel.NCHW,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for epoch := range 2 {
		images := 0
		for batch, err := range loader.Epoch(context.Background(), epoch) {
			if err != nil {
				log.Print(err)
				return
			}
			// reader.Pixels[float32](batch) and reader.Labels[int64](batch) go to the model here.
			fmt.Println(batch.Shape)
			images += batch.N
		}
		fmt.Println("epoch", epoch, images, "images")
	}
	// Output:
	// [4 3 4 4]
	// [4 3 4 4]
	// [2 3 4 4]
	// epoch 0 10 images
	// [4 3 4 4]
	// [4 3 4 4]
	// [2 3 4 4]
	// epoch 1 10 images
}
