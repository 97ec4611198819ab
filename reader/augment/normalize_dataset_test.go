package augment

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func TestNormalizeByTheDataset(t *testing.T) {
	ops, err := Parse("flip,normalize:dataset,erase")
	if err != nil || !strings.HasPrefix(ops.String(), "flip,normalize:dataset,erase") {
		t.Fatal(ops, err)
	}
	if _, err := Compile(ops, 8, 8, 3, formats.Float32, pixel.NCHW); !errors.Is(err, errNoDataset) {
		t.Errorf("compiled without figures: %v", err)
	}
	if _, err := ops.ForDataset(&formats.Meta{}, pixel.ColorRGB); !errors.Is(err, formats.ErrNoPixelStats) || !strings.Contains(err.Error(), "pack --stats") {
		t.Errorf("%v", err)
	}
	s := &formats.PixelStats{Bits: 8, PixelFigures: formats.PixelFigures{Pixels: 4, Mean: [3]float64{0.25, 0.5, 0.75}, Std: [3]float64{0.5, 0.5, 0.5}}}
	m := &formats.Meta{PixelStats: s}
	placed, err := ops.ForDataset(m, pixel.ColorRGB)
	if err != nil || !strings.HasPrefix(placed.String(), "flip,normalize:0.25/0.5/0.75:0.5/0.5/0.5,") {
		t.Errorf("%s, %v", placed, err)
	}
	if _, err := ops.ForDataset(m, pixel.ColorGray); err == nil {
		t.Error("grey images are normalised by the figures of colours")
	}
	s.Mean = [3]float64{0.5, 0.5, 0.5}
	if placed, err := ops.ForDataset(m, pixel.ColorGray); err != nil || !strings.HasPrefix(placed.String(), "flip,normalize:0.5:0.5,") {
		t.Errorf("%s, %v", placed, err)
	}
}
