// Command trainloop is a training loop: it goes through a dataset's shuffled, augmented
// batches. Put your own step where the comment is.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

func main() {
	// Images are decoded in C; workers that come back from there need a free place.
	runtime.GOMAXPROCS(4 * runtime.GOMAXPROCS(0))
	loader, err := reader.Open(dsconv.Formats(), os.Args[1], reader.Config{
		BatchSize: 64, Shuffle: true, Seed: 1, DType: formats.Float32, Layout: pixel.NCHW,
		Transforms: append(augment.Train(224), augment.ImageNet),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for epoch := range 2 {
		for batch, err := range loader.Epoch(context.Background(), epoch) {
			if err != nil {
				log.Panic(err)
			}
			_ = reader.Pixels[float32](batch) // your step; shape batch.Shape, labels reader.Labels[int64](batch)
		}
		fmt.Printf("epoch %d: %d batches of %v\n", epoch, loader.Len(), loader.ImageShape())
	}
}
