package preprocess

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func BenchmarkPhotos(b *testing.B) {
	var values []formats.Value
	var bytes int64
	for i, path := range pixeltest.Photos(b) {
		if i%10 != 0 {
			continue
		}
		data := readFile(b, path)
		values = append(values, formats.Value{Data: data, Encoding: formats.JPEG})
		bytes += int64(len(data))
	}
	b.Run("Decode", func(b *testing.B) {
		d := inner.NewDecoder()
		defer d.Close()
		var m pixel.Image
		for b.Loop() {
			for i := range values {
				if err := d.Decode(&m, &values[i], inner.DecodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.N*len(values))/b.Elapsed().Seconds(), "images/s")
	})
	b.Run("CheckStructure", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			for i := range values {
				if _, err := inner.CheckStructure(values[i].Data, formats.JPEG); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("Inspect", func(b *testing.B) {
		for b.Loop() {
			for i := range values {
				if _, _, err := inner.Inspect(values[i].Data); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/image")
	})
}

func BenchmarkCodecs(b *testing.B) {
	d, e := inner.NewDecoder(), inner.NewEncoder()
	defer d.Close()
	defer e.Close()
	var photo, m pixel.Image
	if err := d.Decode(&photo, &formats.Value{Data: readFile(b, pixeltest.Photos(b)[0])}, inner.DecodeOptions{}); err != nil {
		b.Fatal(err)
	}
	var r resample.Resampler
	if err := r.Resize(&m, &photo, pixel.Rect{}, 341, 256, pixel.Bilinear); err != nil {
		b.Fatal(err)
	}
	for _, enc := range []codec.EncodeOptions{{Encoding: formats.JPEG, Quality: 90}, {Encoding: formats.PNG}, {Encoding: formats.Raw}} {
		var v formats.Value
		b.Run("Encode/"+enc.String(), func(b *testing.B) {
			for b.Loop() {
				if err := e.Encode(&v, &m, enc, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(v.Data)), "bytes")
		})
		b.Run("Decode/"+enc.String(), func(b *testing.B) {
			var out pixel.Image
			for b.Loop() {
				if err := d.Decode(&out, &v, inner.DecodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Orient", func(b *testing.B) {
		var out pixel.Image
		for b.Loop() {
			pixel.Orient(&out, &m, 6)
		}
	})
}

func readFile(b *testing.B, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkProcess measures what packing one photo costs.
func BenchmarkProcess(b *testing.B) {
	p, err := NewProcessor(Recipe{
		Resize: Resize{Mode: ResizeShorter, W: 256}, Encode: codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90},
	}, formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var in []formats.Sample
	for i, path := range pixeltest.Photos(b) {
		if i%20 == 0 {
			in = append(in, formats.Sample{Values: []formats.Value{{Data: readFile(b, path)}}})
		}
	}
	var out formats.Sample
	for b.Loop() {
		for i := range in {
			if err := p.Process(&in[i], &out); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(in))/b.Elapsed().Seconds(), "images/s")
}
