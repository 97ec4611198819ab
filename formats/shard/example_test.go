package shard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

func Example() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train-%06d.tar")
	if err := errors.Join(write(path), read(path)); err != nil {
		fmt.Println(err)
	}
	// Output: cat/tom 0 6 [train-000000.tar]
}

func write(path string) error {
	w, err := shard.Format{}.Create(path, formats.Meta{Schema: formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
	}}, formats.CreateOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	s := &formats.Sample{Key: "cat/tom"}
	s.Resize(2)
	s.Values[0] = formats.Value{Data: []byte("\xff\xd8\xff..."), Encoding: formats.JPEG}
	s.Values[1].SetInt64(0)
	if err := w.Write(s); err != nil {
		return err
	}
	return w.Commit()
}

func read(path string) error {
	ds, err := shard.Format{}.Open(path)
	if err != nil {
		return err
	}
	defer ds.Close()
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			return err
		}
		label, _ := s.Values[1].Int64()
		fmt.Println(s.Key, label, len(s.Values[0].Data), ds.Meta().Files)
	}
	return nil
}
