package augment_test

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// Every op as a type, and its text.
func ExampleOps() {
	for _, o := range (augment.Ops{
		augment.RandomResizedCrop{H: 224, W: 224, Filter: pixel.Bicubic},
		augment.Resize{Shorter: 256},
		augment.CenterCrop{H: 224, W: 224},
		augment.RandomCrop{H: 32, W: 32, Padding: [4]int{4, 4, 4, 4}, Mode: augment.PadReflect},
		augment.RandomHorizontalFlip{P: 0.5},
		augment.RandomVerticalFlip{P: 0.1},
		augment.RandomRotation{Low: -30, High: 30, Filter: pixel.Bilinear},
		augment.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1},
		augment.RandomGrayscale{P: 0.2},
		augment.GaussianBlur{H: 23, W: 23},
		augment.RandomAdjustSharpness{Factor: 2, P: 0.5},
		augment.RandomPosterize{Bits: 4, P: 0.5},
		augment.RandomSolarize{Threshold: 128, P: 0.2},
		augment.RandomInvert{P: 0.5},
		augment.RandomAutocontrast{P: 0.5},
		augment.RandomEqualize{P: 0.5},
		augment.TrivialAugmentWide{},
		augment.RandAugment{Ops: 2, Magnitude: 5},
		augment.RandomApply{P: 0.8, Ops: augment.Ops{augment.RandomInvert{P: 1}}},
		augment.ImageNet,
		augment.RandomErasing{P: 0.25},
		augment.MixUp{Alpha: 0.2},
		augment.CutMix{Alpha: 1},
	}) {
		fmt.Println(o)
	}
	// Output:
	// rrc:224:bicubic
	// resize:256
	// centercrop:224
	// crop:32:pad=4:reflect
	// flip
	// vflip:0.1
	// rotate:30:bilinear
	// jitter:0.4:0.4:0.4:0.1
	// gray:0.2
	// blur:23
	// sharpness:2
	// posterize:4
	// solarize:128:0.2
	// invert
	// autocontrast
	// equalize
	// trivialaugment
	// randaugment:magnitude=5
	// apply:0.8:invert:1
	// normalize
	// erase:0.25
	// mixup:0.2
	// cutmix:1
}

// What an op may add to the steps of an image.
func ExampleSteps() {
	var s augment.Steps
	s.Reset(100, 120, 3)
	r := random.NewRand(1, 0, 7)

	s.Pad(4, 4, 4, 4, augment.PadEdge, nil)
	s.Crop(pixel.Rect{X: 2, Y: 2, W: 120, H: 100})
	s.Rotate(10, pixel.Bilinear, false, nil, nil)
	s.Affine([6]float64{1, 0.2, 0, 0, 1, 0}, pixel.Nearest, nil) // a shear
	s.Resize(64, 80, pixel.Bilinear)
	s.Transpose()
	s.Flip()
	s.FlipV()
	if s.Channels() == 3 {
		s.Enhance(augment.Contrast, 1.2)
	}
	s.Blur(3, 3, 0.8)
	s.Sharpen(1.5)
	s.Do(augment.Func{Name: "mine", Apply: func(*pixel.Image, *random.Rand) error { return nil }}, &r)
	s.Erase(pixel.Rect{W: 8, H: 8}, []float64{0}, &r)

	h, w := s.Size()
	fmt.Println(h, w)
	var names []string
	for _, step := range s.List() {
		names = append(names, step.Name)
	}
	fmt.Println(names)
	s.Fail(errors.New("not today"))
	fmt.Println(s.Err())
	// Output:
	// 80 64
	// [pad crop affine affine resize transpose contrast blur sharpen flip vflip func erase]
	// not today
}
