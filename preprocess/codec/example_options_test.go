package codec_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A mask whose pixels are numbers of classes is decoded to these, not to its palette's colours.
func ExampleDecodeOptions_indices() {
	mask := image.NewPaletted(image.Rect(0, 0, 2, 1), color.Palette{color.Black, color.White, color.RGBA{R: 255, A: 255}})
	mask.SetColorIndex(1, 0, 2)
	var file bytes.Buffer
	if err := png.Encode(&file, mask); err != nil { // codec.EncodeImage would write the colours
		log.Fatal(err)
	}
	m, err := codec.DecodeFrom(&file, codec.DecodeOptions{Indices: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("indices", m.Pix[0], m.Pix[1], "channels", m.C)
	// Output: indices 0 2 channels 1
}

// Depth maps and medical images keep their 16 bits per channel.
func ExampleDecodeOptions_deep() {
	depth := image.NewGray16(image.Rect(0, 0, 2, 1))
	depth.SetGray16(1, 0, color.Gray16{Y: 40000})
	file := encoded(depth, codec.EncodeOptions{Encoding: formats.PNG})
	m, err := codec.Decode(file, codec.DecodeOptions{Color: pixel.ColorGray, Deep: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.DType, m.C)
	// Output: uint16 1
}

// What strangers send is limited before it is decoded.
func ExampleDecodeOptions_limits() {
	o := codec.DecodeOptions{MaxBytes: codec.DefaultMaxBytes / 4, MaxPixels: 1000}
	file := encoded(image.NewGray(image.Rect(0, 0, 500, 375)), codec.EncodeOptions{Encoding: formats.PNG})
	_, err := codec.DecodeFrom(bytes.NewReader(file), o)
	fmt.Println(err)
	// Output: image has too many pixels: 500x375, the limit is 1000
}

func encoded(img image.Image, o codec.EncodeOptions) []byte {
	var b bytes.Buffer
	if err := codec.EncodeImage(&b, img, o); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}
