package preprocess

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

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
				if _, err := CheckStructure(values[i].Data, formats.JPEG); err != nil {
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
			Orient(&out, &m, 6)
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
