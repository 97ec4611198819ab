package hdf5_test

import (
	"context"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func ExampleImages() {
	data, err := os.ReadFile("testdata/others.h5")
	if err != nil {
		fmt.Println(err)
		return
	}
	formatcheck.ReadIn(map[string][]byte{"train.h5": data}, readOthers)
	// Output: 00000000 png 4
}

func readOthers(ctx context.Context) error {
	ds, err := hdf5.Images{}.OpenWith(ctx, "train.h5", formats.ReadOptions{
		Map: map[string]string{"image": "/images", "label": "/labels"},
	})
	if err != nil {
		return err
	}
	defer ds.Close()
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil {
		return err
	}
	fmt.Println(s.Key, s.Values[0].Encoding, len(s.Values[1].Data))
	return nil
}
