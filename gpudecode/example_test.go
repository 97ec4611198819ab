package gpudecode_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A JPEG becomes pixels of 224x224 on the GPU; what the GPU does not decode, the CPU does.
func ExampleGPU_NewBatcher() {
	gpu, err := gpudecode.Open(gpudecode.Options{})
	if errors.Is(err, gpudecode.ErrUnavailable) {
		fmt.Println(err) // what is missing, and what provides it
		return
	}
	defer gpu.Close()
	batcher, err := gpu.NewBatcher(gpudecode.BatcherConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batcher.Close()
	data, err := os.ReadFile("photo.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	var m pixel.Image
	outcome, err := batcher.Decode(context.Background(), &gpudecode.Request{
		JPEG: data, H: 224, W: 224, Channels: 3,
		CPU: func() error {
			decoded, err := codec.Decode(data, codec.DecodeOptions{})
			if err == nil {
				m = *decoded // and resize it
			}
			return err
		},
	}, &m)
	fmt.Println(outcome.Path, outcome.Reason, err, batcher.Counts())
	if outcome.Reason != "" && !gpudecode.ByKind(outcome.Reason) {
		fmt.Println("the GPU failed for this image:", outcome.Reason)
	}
}
