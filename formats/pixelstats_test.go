package formats

import (
	"errors"
	"strings"
	"testing"
)

func TestNormalization(t *testing.T) {
	figures := func(split string, mean float64) PixelFigures {
		return PixelFigures{Split: split, Pixels: 10, Mean: [3]float64{mean, mean, mean}, Std: [3]float64{1, 1, 1}}
	}
	flat := figures("", 0.5)
	flat.Std[1] = 0
	for name, c := range map[string]struct {
		stats *PixelStats
		mean  float64 // 0: an error
	}{
		"none":            {},
		"without splits":  {&PixelStats{PixelFigures: figures("", 0.1)}, 0.1},
		"train":           {&PixelStats{PixelFigures: figures("", 0.1), Splits: []PixelFigures{figures("test", 0.2), figures("train", 0.3)}}, 0.3},
		"other splits":    {&PixelStats{PixelFigures: figures("", 0.1), Splits: []PixelFigures{figures("fold0", 0.2), figures("test", 0.3)}}, 0.1},
		"evaluation only": {&PixelStats{PixelFigures: figures("", 0.1), Splits: []PixelFigures{figures("test", 0.2), figures("val", 0.2)}}, 0},
		"16 bits":         {&PixelStats{Bits: 16, PixelFigures: figures("", 0.1)}, 0},
		"no image":        {&PixelStats{}, 0},
		"one value":       {&PixelStats{PixelFigures: flat}, 0},
	} {
		f, err := (&Meta{PixelStats: c.stats}).Normalization()
		if (c.mean == 0) != errors.Is(err, ErrNoPixelStats) || c.mean != 0 && f.Mean[0] != c.mean {
			t.Errorf("%s: %v, %v", name, f.Mean, err)
		}
		if said := map[string]string{"evaluation only": "only test and val; ", "one value": "normalize:MEAN:STD"}[name]; said != "" && !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
