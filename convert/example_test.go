package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/shard"
)

// A folder of images becomes a WebDataset tar.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	var photo bytes.Buffer
	check(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	for _, name := range []string{"cat/tom.jpg", "dog/rex.jpg"} {
		check(os.MkdirAll(filepath.Join(dir, "images", filepath.Dir(name)), 0o755))
		check(os.WriteFile(filepath.Join(dir, "images", name), photo.Bytes(), 0o644))
	}

	src, err := folder.Open(context.Background(), filepath.Join(dir, "images"), folder.Config{})
	check(err)
	report, err := convert.Run(context.Background(), src, shard.Format{}, filepath.Join(dir, "out.tar"), convert.Options{})
	check(err)
	fmt.Println(report.Found, "found,", report.Written, "written,", len(report.Skipped), "skipped")
	// Output: 2 found, 2 written, 0 skipped
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
