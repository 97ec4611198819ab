package webdataset_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/webdataset"
)

func Example() {
	dir, err := os.MkdirTemp("", "webdataset")
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
	if err := errors.Join(os.Chdir(dir), writeOthers("x-000000.tar"), readOthers(context.Background())); err != nil {
		fmt.Println(err)
	}
	// Output: photo png cat
}

func readOthers(ctx context.Context) error {
	ds, err := webdataset.Format{}.OpenWith(ctx, "x-{000000..000000}.tar", formats.ReadOptions{
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

// writeOthers writes a tar as another program does.
func writeOthers(path string) error {
	var photo, file bytes.Buffer
	if err := png.Encode(&photo, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		return err
	}
	w := tar.NewWriter(&file)
	for name, data := range map[string][]byte{"photo.png": photo.Bytes(), "photo.json": []byte(`{"label": "cat"}`)} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), os.WriteFile(filepath.Clean(path), file.Bytes(), 0o644))
}
