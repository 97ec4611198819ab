package h5arrays_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/h5arrays"
)

func Example() {
	data, err := os.ReadFile("testdata/small.h5")
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "h5arrays")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	defer os.Setenv("XDG_CACHE_HOME", os.Getenv("XDG_CACHE_HOME"))
	os.Setenv("XDG_CACHE_HOME", dir) // the index is of no use afterwards
	was, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Chdir(was)
	if err := errors.Join(os.Chdir(dir), os.WriteFile("train.h5", data, 0o644), readOthers(context.Background())); err != nil {
		fmt.Println(err)
	}
	// Output: 00000000 raw 0
}

func readOthers(ctx context.Context) error {
	ds, err := h5arrays.Format{}.OpenWith(ctx, "train.h5", formats.ReadOptions{
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
	label, _ := s.Values[1].Int64()
	fmt.Println(s.Key, s.Values[0].Encoding, label)
	return nil
}
