package reader_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// JPEGs are decoded on the GPU, and batches lie in its memory.
func ExampleDecoder() {
	step := func(images uintptr, shape [4]int, labels []int64) {} // a kernel of one's own, or a library's
	loader, err := reader.New(squares{}, reader.Config{
		BatchSize: 256, Shuffle: true, DType: formats.Float16, Layout: pixel.NCHW, Transforms: augment.Train(224),
		Decoder: reader.DecodeOnGPU, GPU: gpudecode.Options{Device: 0},
	})
	if errors.Is(err, gpudecode.ErrUnavailable) {
		log.Print(err) // says what is missing
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			return
		}
		step(batch.Device().Pointer(), batch.Shape, reader.Labels[int64](batch))
	}
	counts := loader.Stats().Decoded
	fmt.Println(counts.Engine, counts.CUDA, counts.CPU, counts.Reasons, "on", loader.GPU().Card)
}

// Batches are bytes; who takes them carries out the rest. Here that is the CPU, for one pixel of each image.
func ExampleRest() {
	loader, err := reader.New(squares{}, reader.Config{
		BatchSize: 5, DType: formats.Float32, Deferred: true,
		Transforms: augment.Ops{augment.RandomHorizontalFlip{P: 0.5}, augment.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	final := loader.Frame().Final[0]
	fmt.Println("bytes become", final.DType, final.Layout, final.Image)
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			return
		}
		bytes, rest := reader.Pixels[uint8](batch), batch.Rest[0]
		width := batch.Shape[2] * batch.Shape[3]
		for i, flips := range rest.Flips {
			at := i * batch.Shape[1] * width
			if flips&1 != 0 { // mirrored: the first pixel is the last one of its row
				at += width - batch.Shape[3]
			}
			fmt.Print(math.Float32frombits(final.Values[bytes[at]]), " ")
		}
		fmt.Println("of", batch.N, "images;", len(batch.Previous()), "bytes of an image to mix with")
	}
}
