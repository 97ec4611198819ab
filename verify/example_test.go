package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/verify"
)

// A flipped bit in a dataset is found.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	path := packed(dir)
	damage(path)

	report, err := verify.Run(context.Background(), dsconv.Formats(), path, verify.Options{})
	check(err)
	fmt.Println("sound:", report.Sound())
	for _, s := range report.Samples {
		fmt.Println(s.Key, "is damaged")
	}
	// Output:
	// sound: false
	// cat/tom is damaged
}

// packed packs a folder of two images in dir and returns the dataset's path.
func packed(dir string) string {
	var photo bytes.Buffer
	check(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 64)), nil))
	for _, name := range []string{"cat/tom.jpg", "dog/rex.jpg"} {
		file := filepath.Join(dir, "images", name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, photo.Bytes(), 0o644))
	}
	path := filepath.Join(dir, "out.tar")
	var o dsconv.Options
	o.Order = "key"
	_, err := dsconv.Pack(context.Background(), filepath.Join(dir, "images"), path, o)
	check(err)
	return path
}

// damage flips a bit of the first image in the tar.
func damage(path string) {
	b, err := os.ReadFile(path)
	check(err)
	at := bytes.Index(b, []byte("\xff\xd8\xff")) + 300
	b[at] ^= 1
	check(os.WriteFile(path, b, 0o644))
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
