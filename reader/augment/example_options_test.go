package augment_test

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// The options of crops, resizes and rotations, which torchvision has too.
func ExampleOps_geometry() {
	for _, o := range (augment.Ops{
		augment.Resize{Shorter: 256, Max: 512}, // panoramas become no longer than 512
		augment.CenterCrop{H: 225, W: 225, Floor: true},
		augment.RandomCrop{H: 224, W: 224, Grow: true, Mode: augment.PadConstant, Fill: []float64{124, 116, 104}},
		augment.RandomRotation{Low: -10, High: 10, Expand: true, Fill: []float64{255}},
		augment.RandomRotation{Low: 0, High: 90, Filter: pixel.Bicubic, Center: []float64{0, 0}},
		augment.RandomErasing{P: 0.5, Scale: [2]float64{0.02, 0.1}, Ratio: [2]float64{0.5, 2}, Value: []float64{0.5}},
		augment.RandomErasing{P: 0.5, Random: true}, // with noise
	}) {
		fmt.Println(o)
	}
	// Output:
	// resize:256:max=512
	// centercrop:225:floor
	// crop:224:grow:fill=124/116/104
	// rotate:10:expand:fill=255
	// rotate:0/90:bicubic:center=0/0
	// erase:scale=0.02-0.1:ratio=0.5-2:value=0.5
	// erase:value=random
}

// The options of changes of colour, which torchvision has too.
func ExampleOps_color() {
	for _, o := range (augment.Ops{
		augment.ColorJitter{Ranges: [4][2]float64{{0.5, 1.5}, {1, 1}, {0.8, 1.2}, {-0.1, 0.1}}},
		augment.GaussianBlur{H: 23, W: 23, Sigma: [2]float64{0.1, 1}},
		augment.TrivialAugmentWide{Bins: 31, Filter: pixel.Bilinear, Fill: []float64{128}, V2: true},
		augment.RandAugment{Ops: 2, Magnitude: 5, Bins: 10, Filter: pixel.Bilinear, Fill: []float64{128}, V2: true},
	}) {
		fmt.Println(o)
	}
	// Output:
	// jitter:0.5/1.5:1/1:0.8/1.2:-0.1/0.1
	// blur:23:sigma=0.1-1
	// trivialaugment:bilinear:fill=128:v2
	// randaugment:magnitude=5:bins=10:bilinear:fill=128:v2
}
