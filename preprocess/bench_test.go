package preprocess

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func BenchmarkResize(b *testing.B) {
	src := testImage(500, 375, 3, formats.Uint8)
	for _, c := range []struct {
		name string
		crop Rect
		w, h int
		f    Filter
	}{
		{"crop300-224-bilinear", Rect{100, 30, 300, 300}, 224, 224, Bilinear},
		{"crop300-224-bicubic", Rect{100, 30, 300, 300}, 224, 224, Bicubic},
		{"crop225x375-224-bilinear-vertical-first", Rect{100, 0, 225, 375}, 224, 224, Bilinear},
		{"whole-341x256-bilinear", Rect{}, 341, 256, Bilinear},
		{"whole-500x375-32x32-lanczos", Rect{}, 32, 32, Lanczos},
	} {
		b.Run(c.name, func(b *testing.B) {
			var r Resampler
			var dst Image
			for b.Loop() {
				if err := r.Resize(&dst, src, c.crop, c.w, c.h, c.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNewAxes is what sizes cost that the Resampler has not seen before.
func BenchmarkNewAxes(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newCoefficients(300, 224, kernels[Bilinear], formats.Uint8)
	}
}

func BenchmarkPhotos(b *testing.B) {
	var values []formats.Value
	var bytes int64
	for i, path := range photos(b) {
		if i%10 != 0 {
			continue
		}
		data := readFile(b, path)
		values = append(values, formats.Value{Data: data, Encoding: formats.JPEG})
		bytes += int64(len(data))
	}
	b.Run("Decode", func(b *testing.B) {
		d := NewDecoder()
		defer d.Close()
		var m Image
		for b.Loop() {
			for i := range values {
				if err := d.Decode(&m, &values[i], DecodeOptions{}); err != nil {
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
				if err := CheckStructure(values[i].Data, formats.JPEG); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("Inspect", func(b *testing.B) {
		for b.Loop() {
			for i := range values {
				if _, _, err := Inspect(values[i].Data); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/image")
	})
}

func BenchmarkCodecs(b *testing.B) {
	d, e := NewDecoder(), NewEncoder()
	defer d.Close()
	defer e.Close()
	var photo, m Image
	if err := d.Decode(&photo, &formats.Value{Data: readFile(b, photos(b)[0])}, DecodeOptions{}); err != nil {
		b.Fatal(err)
	}
	var r Resampler
	if err := r.Resize(&m, &photo, Rect{}, 341, 256, Bilinear); err != nil {
		b.Fatal(err)
	}
	for _, enc := range []Encode{{Encoding: formats.JPEG, Quality: 90}, {Encoding: formats.PNG}, {Encoding: formats.Raw}} {
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
			var out Image
			for b.Loop() {
				if err := d.Decode(&out, &v, DecodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Orient", func(b *testing.B) {
		var out Image
		for b.Loop() {
			orient(&out, &m, 6)
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

// BenchmarkProcess is what packing costs a photo.
func BenchmarkProcess(b *testing.B) {
	p, err := NewProcessor(Recipe{
		Resize: Resize{Mode: ResizeShorter, W: 256}, Encode: Encode{Encoding: formats.JPEG, Quality: 90},
	}, formats.Schema{{Name: "image", Kind: formats.Image}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var in []formats.Sample
	for i, path := range photos(b) {
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
