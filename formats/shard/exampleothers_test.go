package shard_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func ExampleWebDataset() {
	data, err := tarOfOthers()
	if err != nil {
		fmt.Println(err)
		return
	}
	formatcheck.ReadIn(map[string][]byte{"x-000000.tar": data}, readOthers)
	// Output: photo png cat
}

func readOthers(ctx context.Context) error {
	ds, err := shard.WebDataset{}.OpenWith(ctx, "x-{000000..000000}.tar", formats.ReadOptions{
		Map: map[string]string{"image": "jpg;png", "label": "json.label"},
	})
	if err != nil {
		return err
	}
	defer ds.Close()
	info, err := ds.Info(0)
	if err != nil {
		return err
	}
	fmt.Println(info.Key, info.Encoding, ds.Meta().Classes()[info.Label])
	return nil
}

// tarOfOthers is a tar as another program writes it.
func tarOfOthers() ([]byte, error) {
	var photo, file bytes.Buffer
	if err := png.Encode(&photo, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		return nil, err
	}
	w := tar.NewWriter(&file)
	for name, data := range map[string][]byte{"photo.png": photo.Bytes(), "photo.json": []byte(`{"label": "cat"}`)} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), w.Close()
}
