package shard_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

func Example() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train-%06d.tar")

	w, err := shard.Format{}.Create(path, formats.Meta{Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
	}}, formats.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	s := &formats.Sample{Key: "cat/tom", Values: []formats.Value{{Data: []byte("\xff\xd8\xff..."), Encoding: formats.JPEG}, {}}}
	s.Values[1].SetInt64(0)
	if err := w.Write(s); err != nil {
		log.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		log.Fatal(err)
	}

	ds, err := shard.Format{}.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	if err := ds.Read(0, s); err != nil {
		log.Fatal(err)
	}
	label, _ := s.Values[1].Int64()
	fmt.Println(s.Key, label, len(s.Values[0].Data), ds.Meta().Files)
	// Output: cat/tom 0 6 [train-000000.tar]
}
