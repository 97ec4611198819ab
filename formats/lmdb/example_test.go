//go:build cgo

package lmdb_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
)

func Example() {
	if err := writeAndRead(); err != nil {
		fmt.Println(err)
	}
	// Output: 1 dog/rex dog
}

func writeAndRead() error {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pets.lmdb")

	w, err := lmdb.Format{}.Create(path, formats.Meta{
		Version: formats.Version, Format: "lmdb",
		Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}}},
	}, formats.CreateOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	s := formats.Sample{Key: "dog/rex", Values: []formats.Value{{Data: []byte("\xff\xd8\xff..."), Encoding: formats.JPEG}, {}}}
	s.Values[1].SetInt64(1)
	if err := w.Write(&s); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}

	ds, err := lmdb.Format{}.Open(path)
	if err != nil {
		return err
	}
	defer ds.Close()
	in, err := ds.Info(0)
	if err != nil {
		return err
	}
	fmt.Println(ds.Len(), in.Key, ds.Meta().Classes()[in.Label])
	return nil
}
