//go:build cgo

package lmdb_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/lmdb"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pets.lmdb")

	w, err := lmdb.Format{}.Create(path, formats.Meta{
		Version: formats.Version, Format: "lmdb",
		Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}}},
	}, formats.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	s := formats.Sample{Key: "dog/rex", Values: []formats.Value{{Data: []byte("\xff\xd8\xff..."), Encoding: formats.JPEG}, {}}}
	s.Values[1].SetInt64(1)
	if err := w.Write(&s); err != nil {
		log.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		log.Fatal(err)
	}

	ds, err := lmdb.Format{}.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	in, err := ds.Info(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), in.Key, ds.Meta().Classes()[in.Label])
	// Output: 1 dog/rex dog
}
