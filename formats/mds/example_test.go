package mds_test

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/mds"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func Example() {
	data := shard(sample(3))
	index := describedBy(len(data), 1, func(s map[string]any) { s["column_names"] = []string{"x", "y"} })
	formatcheck.ReadIn(map[string][]byte{"imagenet-mds/index.json": index, "imagenet-mds/shard.00000.mds": data}, readOthers)
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
