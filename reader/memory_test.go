package reader

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// memory is a Dataset of samples in memory; it counts its reads.
type memory struct {
	meta    formats.Meta
	samples []formats.Sample
	broken  map[int]error // samples that cannot be read
	reads   atomic.Int64
	closed  bool
}

var _ formats.Dataset = (*memory)(nil)

func (d *memory) Meta() *formats.Meta { return &d.meta }
func (d *memory) Len() int            { return len(d.samples) }

func (d *memory) Info(i int) (formats.Info, error) {
	s := d.samples[i]
	info := formats.Info{Key: s.Key, Split: s.Split}
	if v := s.Values[0]; len(v.Shape) == 3 {
		info.Shape = [3]int(v.Shape)
	}
	return info, nil
}

func (d *memory) Read(i int, s *formats.Sample) error {
	d.reads.Add(1)
	if err := d.broken[i]; err != nil {
		return fmt.Errorf("%s: %w", d.samples[i].Key, err)
	}
	from := d.samples[i]
	s.Key, s.Split = from.Key, from.Split
	s.Resize(len(from.Values))
	for k := range from.Values {
		s.Values[k].Set(from.Values[k])
	}
	return nil
}

func (d *memory) Close() error {
	if d.closed {
		return errors.New("closed twice")
	}
	d.closed = true
	return nil
}

// lending is memory that lends its values.
type lending struct{ *memory }

func (d lending) View(i int, s *formats.Sample) error {
	d.reads.Add(1)
	from := d.samples[i]
	s.Key, s.Split = from.Key, from.Split
	s.Values = slices.Clone(from.Values)
	return nil
}

// add appends a sample with an image and the label i%10.
func (d *memory) add(split string, v formats.Value) {
	i := len(d.samples)
	s := formats.Sample{Key: fmt.Sprintf("%s/sample%05d", split, i), Split: split, Values: []formats.Value{v, {}}}
	s.Values[1].SetInt64(int64(i % 10))
	d.samples = append(d.samples, s)
}

func newMemory() *memory {
	return &memory{meta: formats.Meta{
		Schema: formats.Schema{
			{Name: "image", Kind: formats.Image},
			{Name: "label", Kind: formats.Label, Classes: classes(10)},
		},
		Splits: []formats.Split{{Name: "train"}, {Name: "val"}},
	}}
}

// rawImages is n images of one shape, whose pixels tell their index.
func rawImages(n, h, w, c int) *memory {
	d := newMemory()
	for i := range n {
		pix := make([]byte, h*w*c)
		for j := range pix {
			pix[j] = byte(i*31 + j)
		}
		d.add("train", formats.Value{Data: pix, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{h, w, c}})
	}
	return d
}

// dropLabels leaves the image alone.
func (d *memory) dropLabels() {
	d.meta.Schema = d.meta.Schema[:1]
	for i := range d.samples {
		d.samples[i].Values = d.samples[i].Values[:1]
	}
}

// photos is n pictures of different sizes, JPEG and PNG in turn.
func photos(t testing.TB, n int) *memory {
	t.Helper()
	d := newMemory()
	for i := range n {
		m := picture(40+i%17, 30+i%23, i)
		var buf bytes.Buffer
		v, err := formats.Value{Encoding: formats.JPEG}, jpeg.Encode(&buf, m, nil)
		if i%2 == 1 {
			buf.Reset()
			v, err = formats.Value{Encoding: formats.PNG}, png.Encode(&buf, m)
		}
		if err != nil {
			t.Fatal(err)
		}
		v.Data = buf.Bytes()
		d.add([]string{"train", "val"}[i%3/2], v)
	}
	return d
}

// picture is a picture with colours that change from place to place.
func picture(w, h, seed int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x*5 + seed*7), uint8(y*6 + seed), uint8(x*y + seed*3), 255})
		}
	}
	return m
}

// Memory of Go's own stays as long as anybody refers to it.
func (lending) Lease() (release func(), err error) { return func() {}, nil }
func (viewed) Lease() (release func(), err error)  { return func() {}, nil }
