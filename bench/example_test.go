package bench_test

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
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/reader"
)

// A folder of images and its pack are loaded in turns.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	ctx, images, packed := context.Background(), filepath.Join(dir, "images"), filepath.Join(dir, "out.tar")
	putImages(images, "cat/tom.jpg", "cat/kit.jpg", "dog/rex.jpg", "dog/bo.jpg")
	_, err = dsconv.Pack(ctx, images, packed, dsconv.Options{})
	check(err)

	report, err := bench.Run(ctx, []string{images, packed}, bench.Options{
		Rounds: 2, Size: 16, Config: reader.Config{BatchSize: 2},
		Progress: func(p bench.Progress) { fmt.Println("round", p.Round, filepath.Base(p.Dataset)) },
	})
	check(err)
	for _, d := range report.Datasets { // d.ImagesPerSecond, d.Ratio, d.Diagnosis and more
		fmt.Println(filepath.Base(d.Path), d.Samples, "images,", len(d.Rounds), "rounds")
	}
	// Output:
	// round 0 images
	// round 0 out.tar
	// round 1 images
	// round 1 out.tar
	// round 2 images
	// round 2 out.tar
	// images 4 images, 2 rounds
	// out.tar 4 images, 2 rounds
}

func putImages(dir string, names ...string) {
	var photo bytes.Buffer
	check(jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 32, 32)), nil))
	for _, name := range names {
		file := filepath.Join(dir, name)
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, photo.Bytes(), 0o644))
	}
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
