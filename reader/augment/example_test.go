package augment_test

import (
	"fmt"
	"log"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// A list of ops is written as a text, or in Go.
func ExampleParse() {
	ops, err := augment.Parse("rrc:224,flip,jitter:0.4")
	if err != nil {
		log.Fatal(err)
	}
	ops = append(ops, augment.ImageNet)
	fmt.Println(ops)
	fmt.Println(augment.Train(224))
	fmt.Println(augment.Eval(224))
	_, err = augment.Parse("rotate:-30")
	fmt.Println(err)
	// Output:
	// rrc:224,flip,jitter:0.4,normalize
	// rrc:224,flip
	// resize:256,centercrop:224
	// transform "rotate:-30": rotate: degrees 30 to -30: wanted low <= high
}

// cornerCrop keeps one of the four corners, Size by Size pixels.
type cornerCrop struct{ Size int }

func (o cornerCrop) String() string { return fmt.Sprintf("cornercrop:%d", o.Size) }

func (o cornerCrop) Check(int) error {
	if o.Size < 1 {
		return fmt.Errorf("%s: the size must be positive", o)
	}
	return nil
}

func (o cornerCrop) AddTo(s *augment.Steps, r *random.Rand) {
	h, w := s.Size()
	part := pixel.Rect{W: o.Size, H: o.Size}
	part.X = r.IntN(2) * (w - o.Size)
	part.Y = r.IntN(2) * (h - o.Size)
	s.Crop(part) // an image that is smaller fails
}

// FixesSize says that images of all sizes may come.
func (cornerCrop) FixesSize() bool { return true }

// An op of one's own adds steps; masks and boxes follow them.
func ExampleOp() {
	ops := augment.Ops{cornerCrop{Size: 64}, augment.RandomHorizontalFlip{P: 0.5}}
	config := reader.Config{BatchSize: 32, Transforms: ops}
	fmt.Println(config.Transforms)

	var steps augment.Steps
	steps.Reset(100, 120, 3)
	r := random.NewRand(1, 0, 7) // seed, epoch, sample
	ops[0].AddTo(&steps, &r)
	fmt.Println(steps.List()[0].Name, steps.List()[0].Region)
	// Output:
	// cornercrop:64,flip
	// crop [0 36 64 64]
}

// A Func changes pixels.
func ExampleFunc() {
	noise := augment.Func{Name: "noise", Apply: func(m *pixel.Image, r *random.Rand) error {
		for i, v := range m.Pix {
			m.Pix[i] = uint8(min(max(float64(v)+8*r.Normal(), 0), 255))
		}
		return nil
	}}
	config := reader.Config{BatchSize: 32, Transforms: append(augment.Train(224), noise)}
	fmt.Println(config.Transforms)

	m := &pixel.Image{Pix: []byte{100, 100, 100}, H: 1, W: 1, C: 3, DType: formats.Uint8}
	r := random.NewRand(1, 0, 7)
	if err := noise.Apply(m, &r); err != nil {
		log.Fatal(err)
	}
	fmt.Println("values", m.Pix[0], m.Pix[1], m.Pix[2])
	// Output:
	// rrc:224,flip,func:noise
	// values 97 99 102
}
