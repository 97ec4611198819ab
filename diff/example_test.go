package diff_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// Two folders of images: the second has one image more.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	a := openImages(filepath.Join(dir, "monday"), "cat/tom.jpg", "dog/rex.jpg")
	defer a.Close()
	b := openImages(filepath.Join(dir, "tuesday"), "cat/tom.jpg", "dog/rex.jpg", "dog/bo.jpg")
	defer b.Close()

	report, err := diff.Run(context.Background(), a, b, diff.Options{OnChange: func(c diff.Change) {
		fmt.Println(c.Kind, c.Key)
	}})
	check(err)
	fmt.Printf("%d in both, %d added; the same: %v\n", report.Common, report.Added, report.Same())
	// Output:
	// added dog/bo
	// 2 in both, 1 added; the same: false
}

// openImages makes a folder of images of those names.
func openImages(dir string, names ...string) formats.Dataset {
	var photo bytes.Buffer
	check(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	for _, name := range names {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, photo.Bytes(), 0o644))
	}
	ds, err := folder.Open(context.Background(), dir, folder.Config{})
	check(err)
	return ds
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
