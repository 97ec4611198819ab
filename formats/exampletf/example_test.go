package exampletf_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/exampletf"
)

func Example() {
	data := good(2)
	dir, err := os.MkdirTemp("", "exampletf")
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
	if err := errors.Join(os.Chdir(dir), os.WriteFile("train-00000-of-00001", data, 0o644), readOthers(context.Background())); err != nil {
		fmt.Println(err)
	}
	// Output: train/00000000 jpeg 2
}

func readOthers(ctx context.Context) error {
	ds, err := exampletf.Format{}.OpenWith(ctx, "train-*-of-*", formats.ReadOptions{
		Map: map[string]string{"image": "image", "label": "label"},
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
