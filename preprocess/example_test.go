package preprocess_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// A recipe prepares a sample for training: scaled to cover 224 by 224 pixels, and stored raw.
func ExampleProcessor() {
	recipe := preprocess.Recipe{
		Resize: preprocess.Resize{Mode: preprocess.ResizeCover, W: 224, H: 224},
		Encode: codec.EncodeOptions{Encoding: formats.Raw},
	}
	schema := formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label}}
	p, err := preprocess.NewProcessor(recipe, schema)
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

// The options of a recipe have the texts of the command line's flags.
func ExampleRecipe() {
	var r preprocess.Recipe
	if err := r.Resize.UnmarshalText([]byte("shorter:256")); err != nil {
		log.Fatal(err)
	}
	if err := r.Encode.UnmarshalText([]byte("jpeg:85")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Resize, r.Encode, r.Validate())
	fmt.Println(r.Map()["filter"], r.Map()["exif"])
	// Output:
	// shorter:256 jpeg:85 <nil>
	// bilinear keep
}

func jpegFile(w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{200, 100, 50, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := codec.EncodeImage(&b, img, codec.EncodeOptions{Encoding: formats.JPEG}); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}
