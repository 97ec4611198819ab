package preprocess_test

import (
	"fmt"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Options of the command line become a recipe, which prepares an image for training.
func ExampleProcessor() {
	resize, err := preprocess.ParseResize("cover:224x224")
	if err != nil {
		log.Fatal(err)
	}
	encode, err := codec.ParseEncode("raw")
	if err != nil {
		log.Fatal(err)
	}
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}
	p, err := preprocess.NewProcessor(preprocess.Recipe{Resize: resize, Encode: encode}, schema)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	var in, out formats.Sample
	in.Key = "cat/1"
	in.Resize(2)
	in.Values[0] = formats.Value{Data: jpegFile(500, 375), Encoding: formats.JPEG}
	in.Values[1].SetInt64(3)
	if err := p.Process(&in, &out); err != nil {
		fmt.Println(in.Key, err)
		return
	}
	fmt.Println(out.Key, out.Values[0].Encoding, out.Values[0].DType, out.Values[0].Shape, len(out.Values[0].Data))
	fmt.Println(p.OutputSchema()[0].Shape)
	// Output:
	// cat/1 raw uint8 [224 224 3] 150528
	// [224 224 3]
}

// A random crop as in a loader: decode once, crop and scale in one pass.
func ExampleResampler_Resize() {
	d := codec.NewDecoder()
	defer d.Close()
	var image, crop pixel.Image
	v := formats.Value{Data: jpegFile(500, 375), Encoding: formats.JPEG}
	if err := d.Decode(&image, &v, codec.DecodeOptions{Color: pixel.ColorRGB}); err != nil {
		fmt.Println(err)
		return
	}
	var r resample.Resampler
	part := pixel.Rect{X: 100, Y: 30, W: 300, H: 280}
	if err := r.Resize(&crop, &image, part, 224, 224, pixel.Bilinear); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(crop.H, crop.W, crop.C, crop.DType)
	// Output: 224 224 3 uint8
}

func jpegFile(w, h int) []byte {
	var m pixel.Image
	m.Reset(h, w, 3, formats.Uint8)
	e := codec.NewEncoder()
	defer e.Close()
	data, err := e.AppendJPEG(nil, &m, codec.Encode{Quality: 90})
	if err != nil {
		panic(err)
	}
	return data
}
