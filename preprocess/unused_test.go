package preprocess

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// TestOptionsWithoutEffect: each is an error that names its field.
func TestOptionsWithoutEffect(t *testing.T) {
	png, jpeg := formats.PNG, formats.JPEG
	for want, r := range map[string]Recipe{
		"Recipe.Resize is 256x0 without a Mode":   {Resize: Resize{W: 256}},
		"Recipe.Resize.H is 128: shorter uses W":  {Resize: Resize{Mode: ResizeShorter, W: 256, H: 128}, Encode: codec.EncodeOptions{Encoding: png}},
		"Recipe.Encode.Quality is set":            {Encode: codec.EncodeOptions{Quality: 80}},
		"Recipe.Encode.Sampling is set":           {Encode: codec.EncodeOptions{Encoding: png, Sampling: "444"}},
		"Recipe.Encode.Optimize is set":           {Encode: codec.EncodeOptions{Encoding: formats.Raw, Optimize: true}},
		"Recipe.Encode.Progressive is set":        {Encode: codec.EncodeOptions{Tiled: true, Interval: 8, Progressive: true}},
		"Recipe.Encode.Interval is set":           {Encode: codec.EncodeOptions{Interval: 8}},
		"Recipe.Encode.Interval is 0":             {Encode: codec.EncodeOptions{Tiled: true}},
		"Recipe.Encode.Tiled keeps":               {Encode: codec.EncodeOptions{Encoding: jpeg, Tiled: true}},
		"Recipe.Encode.Quality is 101: use 1 to":  {Encode: codec.EncodeOptions{Encoding: jpeg, Quality: 101}},
		"Recipe.Encode.Sampling: ":                {Encode: codec.EncodeOptions{Encoding: jpeg, Sampling: "443"}},
		`Recipe.Encode.Encoding is "gif"`:         {Encode: codec.EncodeOptions{Encoding: formats.GIF}},
		"a progressive JPEG cannot be tiled":      {Encode: codec.EncodeOptions{Encoding: jpeg, Progressive: true, Interval: 4}},
		"Recipe.Encode.Interval is 70000: use 1 ": {Encode: codec.EncodeOptions{Encoding: jpeg, Interval: 70000}},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
	}
}

// TestQualityOfZeroIsTheDefault: in the text, and in the bytes.
func TestQualityOfZeroIsTheDefault(t *testing.T) {
	encoded := func(quality int) string {
		r := Recipe{Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: quality}}
		if text := r.Map()["encode"]; text != "jpeg:90" {
			t.Errorf("the text is %s", text)
		}
		p, err := NewProcessor(r, formats.Schema{{Name: "image", Kind: formats.Image}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var photo bytes.Buffer
		if err := codec.EncodeImage(&photo, image.NewGray(image.Rect(0, 0, 64, 48)), codec.EncodeOptions{Encoding: formats.JPEG}); err != nil {
			t.Fatal(err)
		}
		var in, out formats.Sample
		in.Resize(1)
		in.Values[0] = formats.Value{Data: photo.Bytes(), Encoding: formats.JPEG}
		if err := p.Process(&in, &out); err != nil {
			t.Fatal(err)
		}
		return string(out.Values[0].Data)
	}
	if encoded(0) != encoded(90) {
		t.Error("the bytes differ")
	}
}
