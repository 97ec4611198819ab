package codec_test

import (
	"bytes"
	"fmt"
	"image"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A part of an image is decoded alone, and written as a JPEG.
func Example() {
	var photo bytes.Buffer // the bytes of any image file
	if err := codec.EncodeImage(&photo, image.NewGray(image.Rect(0, 0, 500, 375)), codec.EncodeOptions{Encoding: formats.PNG}); err != nil {
		log.Fatal(err)
	}
	crop, err := codec.DecodeFrom(&photo, codec.DecodeOptions{Region: pixel.Rect{X: 100, Y: 50, W: 224, H: 224}})
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	if err := codec.Encode(&out, crop, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 85}); err != nil {
		log.Fatal(err)
	}
	enc, h, err := codec.Inspect(out.Bytes())
	fmt.Println(enc, h.W, h.H, h.C, err)
	// Output: jpeg 224 224 3 <nil>
}
