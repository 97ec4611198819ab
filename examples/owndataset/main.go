// Owndataset makes images of one pixel, bright or dark, packs them and loads them in batches: owndataset DST.tar
package main

import (
	"context"
	"log"
	"os"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

type set struct{ formats.Schema }

func (s set) Meta() *formats.Meta { return &formats.Meta{Schema: s.Schema} }
func (set) Len() int              { return 26 }
func (set) Close() error          { return nil }
func (set) Info(i int) (formats.Info, error) {
	return formats.Info{Key: string(rune('a' + i)), Label: int64(i % 2)}, nil
}

func (set) Read(i int, s *formats.Sample) error {
	pixel := formats.Value{Data: []byte{byte(200 - 150*(i%2) + i)}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1, 1, 1}}
	s.Key, s.Values = string(rune('a'+i)), []formats.Value{pixel, {}}
	s.Values[1].SetInt64(int64(i % 2))
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	images := set{formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"bright", "dark"}}}}
	log.Println(must(dsconv.PackDataset(context.Background(), images, os.Args[1], dsconv.Options{})).Written, "packed")
	loader := must(dsconv.NewLoader(os.Args[1], reader.Config{BatchSize: 8, Shuffle: true}))
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		log.Println(must(batch, err).Shape, reader.Labels[int64](batch), reader.Pixels[uint8](batch)[0])
	}
}
