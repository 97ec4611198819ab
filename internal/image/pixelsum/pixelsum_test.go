package pixelsum

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// The figures are those of two passes over floats, to the floats' own error.
func TestFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []formats.DType{formats.Uint8, formats.Uint16} {
		sums, backward := new(Sums), new(Sums)
		var values [3][]float64
		var images []Image
		for k := range 20 {
			var m pixel.Image
			m.Reset(5+k%3, 7+k%4, 3, d)
			for i := range m.Pix {
				m.Pix[i] = byte(r.Uint32())
			}
			for i := range m.H * m.W * 3 {
				v := float64(m.Pix[i*d.Size()])
				if d == formats.Uint16 {
					v = (v + 256*float64(m.Pix[2*i+1])) / 257
				}
				values[i%3] = append(values[i%3], v/255)
			}
			s, err := Of(&m)
			if err != nil {
				t.Fatal(err)
			}
			sums.Add(&s)
			images = append(images, s)
		}
		for k := range images {
			backward.Add(&images[len(images)-1-k])
		}
		f := sums.figures("", 0)
		if g := backward.figures("", 0); !reflect.DeepEqual(f, g) {
			t.Errorf("the order matters: %+v, %+v", f, g)
		}
		for c, list := range values {
			mean, squares := 0.0, 0.0
			for _, v := range list {
				mean += v / float64(len(list))
			}
			for _, v := range list {
				squares += (v - mean) * (v - mean)
			}
			std := math.Sqrt(squares / float64(len(list)))
			if math.Abs(f.Mean[c]-mean) > 1e-12 || math.Abs(f.Std[c]-std) > 1e-12 {
				t.Errorf("%s, channel %d: %v, %v, want %v, %v", d, c, f.Mean[c], f.Std[c], mean, std)
			}
		}
		if f.Height != (formats.SizeRange{Min: 5, Median: 6, Max: 7}) || f.Images != 20 {
			t.Errorf("%+v", f)
		}
	}
}

// A hundred million white images of 100 megapixels neither overflow nor round: white is 1, its deviation 0.
func TestManyPixels(t *testing.T) {
	white := Image{h: 10_000, w: 10_000, bits: 8}
	for c := range 3 {
		white.sum[c].addProduct(1e8, scale)
		white.squares[c].addProduct(1e8, scale*scale)
	}
	s := &Sums{}
	s.Add(&white)
	for range 26 {
		same := *s
		s.Merge(&same)
	}
	if f := s.figures("", 0); f.Mean != [3]float64{1, 1, 1} || f.Std != [3]float64{} || f.Pixels != 1e8<<26 {
		t.Errorf("%+v", f)
	}
}

func TestChannels(t *testing.T) {
	var m pixel.Image
	m.Reset(2, 2, 4, formats.Uint8)
	if _, err := Of(&m); err == nil {
		t.Error("four channels are summed")
	}
}

func TestLabels(t *testing.T) {
	var s Sums
	hot, class := formats.Field{Kind: formats.MultiHot}, formats.Field{Kind: formats.Label, Classes: []string{"a", "b"}}
	var v formats.Value
	for _, label := range []int64{1, 1, -1, 1 << 40} {
		v.SetInt64(label)
		s.AddLabel(&class, &v)
	}
	s.AddLabel(&hot, &formats.Value{Data: []byte{1, 0, 1}})
	s.AddLabel(&hot, &formats.Value{Data: []byte{0, 0, 0}})
	if f := s.figures("", 4); !reflect.DeepEqual(f.Classes, []int{1, 2, 1, 0}) || f.Unlabeled != 3 {
		t.Errorf("%v, %d without", f.Classes, f.Unlabeled)
	}
}
