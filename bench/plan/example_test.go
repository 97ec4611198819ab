package plan_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

// A plan says what a pack would bring, without writing it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	ctx, images := context.Background(), filepath.Join(dir, "images")
	putImages(images, "cat/tom.jpg", "cat/kit.jpg", "dog/rex.jpg", "dog/bo.jpg")
	options := plan.Options{
		Bench: bench.Options{Size: 16, Config: reader.Config{BatchSize: 2}}, Rounds: 1,
		Format: "shard", Encodings: []codec.EncodeOptions{{}},
	}

	p, err := plan.Run(ctx, images, options)
	check(err)
	for _, row := range p.Rows { // row.Disk, row.PackSeconds, row.EpochSeconds and more
		fmt.Println(row.Format, row.Encode, row.Lossless, row.Sampled, "images were tried")
	}
	// Output:
	// shard keep true 4 images were tried
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
