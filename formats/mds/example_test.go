package mds_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/mds"
)

func Example() {
	dir, err := os.MkdirTemp("", "mds")
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
	data := shard(sample(3))
	index := describedBy(len(data), 1, func(s map[string]any) { s["column_names"] = []string{"x", "y"} })
	err = errors.Join(os.Chdir(dir), os.Mkdir("imagenet-mds", 0o755), os.WriteFile("imagenet-mds/index.json", index, 0o644),
		os.WriteFile("imagenet-mds/shard.00000.mds", data, 0o644), readOthers(context.Background()))
	if err != nil {
		fmt.Println(err)
	}
	// Output: 000000 png 3
}

func readOthers(ctx context.Context) error {
	ds, err := mds.Format{}.OpenWith(ctx, "imagenet-mds", formats.ReadOptions{
		Map: map[string]string{"image": "x", "label": "y"},
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
