package tfrecord_test

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func ExampleExamples() {
	formatcheck.ReadIn(map[string][]byte{"train-00000-of-00001": good(2)}, readOthers)
	// Output: train/00000000 jpeg 2
}

func readOthers(ctx context.Context) error {
	ds, err := tfrecord.Examples{}.OpenWith(ctx, "train-*-of-*", formats.ReadOptions{
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
