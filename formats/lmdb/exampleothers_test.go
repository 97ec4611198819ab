package lmdb_test

import (
	"context"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func ExampleImages() {
	data, err := os.ReadFile("testdata/others.mdb")
	if err != nil {
		fmt.Println(err)
		return
	}
	formatcheck.ReadIn(map[string][]byte{"train.mdb": data}, readOthers)
	// Output: c0/00 jpeg 0
}

func readOthers(context.Context) error {
	ds, err := lmdb.Images{}.Open("train.mdb")
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
