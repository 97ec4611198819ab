package augment

import (
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// beyond crops what no image has.
type beyond struct{ CenterCrop }

func (o beyond) AddTo(s *Steps, _ *random.Rand) { s.Crop(pixel.Rect{X: -1, W: o.W, H: o.H}) }

// TestImpossibleCrop: where the images' size is not known, the error says with which it was checked.
func TestImpossibleCrop(t *testing.T) {
	_, err := Compile([]Op{CenterCrop{H: 8, W: 8}, Func{Name: "x", Apply: slanted.Apply}, beyond{CenterCrop{H: 8, W: 8}}}, 0, 0, 3, formats.Uint8, pixel.NHWC)
	if err == nil || !strings.Contains(err.Error(), "an image of the largest size") {
		t.Error(err)
	}
}
