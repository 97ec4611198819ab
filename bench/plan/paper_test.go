package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/bench/verdict"
)

// decoding is a loader whose images take 2 ms of a core each and 100 kB of disk.
func decoding() *sketch {
	return &sketch{bytes: 100e3, cold: 500, costs: verdict.Costs{
		Samples: 1000, Batch: 50, Workers: 2, Cores: 2, Loader: 1000,
		Parts: []verdict.Part{{Name: "decode", Kind: verdict.Decode, Wall: 2000, CPU: 2000}},
	}}
}

func TestPaper(t *testing.T) {
	for name, c := range map[string]struct {
		paper   Paper
		seconds float64
		bound   Resource
		buy     Resource
	}{
		"as here":             {Paper{Cores: 2, Images: 1000}, 1, Cores, Cores},
		"more of both":        {Paper{Cores: 8, Images: 8000}, 2, Cores, Cores},
		"a slow GPU":          {Paper{Cores: 8, Images: 8000, Consume: 1000}, 8, GPU, GPU},
		"a fast GPU":          {Paper{Cores: 8, Images: 8000, Consume: 1e6}, 2, Cores, Cores},
		"fits in memory":      {Paper{Cores: 64, Images: 64000, Memory: 7e9}, 2, Cores, Cores},
		"half fits":           {Paper{Cores: 640, Images: 64000, Memory: 32e8}, 16, Disk, Memory},
		"the disk is given":   {Paper{Cores: 640, Images: 64000, Memory: 32e8, Disk: 400e6}, 8, Disk, Memory},
		"little fits":         {Paper{Cores: 640, Images: 64000, Memory: 64e7}, 28.8, Disk, Disk},
		"the disk is no more": {Paper{Cores: 64, Images: 64000, Memory: 62e8}, 2, Cores, Cores},
	} {
		row := c.paper.row(decoding())
		if math.Abs(row.EpochSeconds/c.seconds-1) > 0.02 || row.Bound != c.bound || len(row.Buy) == 0 || row.Buy[0].Resource != c.buy {
			t.Errorf("%s: %.2f s by %s, buy %v; want %.2f s by %s, buy %s", name, row.EpochSeconds, row.Bound, row.Buy, c.seconds, c.bound, c.buy)
		}
		if row.Disk != int64(c.paper.Images)*100e3 {
			t.Errorf("%s: %d bytes", name, row.Disk)
		}
	}
}

// More of anything is never slower, and what is bought is what helps most.
func TestMoreIsNeverSlower(t *testing.T) {
	for cores := 1.0; cores <= 256; cores *= 4 {
		for consume := 0.0; consume <= 1e5; consume = consume*10 + 100 {
			for memory := int64(1e9); memory <= 1e13; memory *= 100 {
				p := Paper{Cores: cores, Images: 1e6, Consume: consume, Memory: memory}
				before, _ := p.epoch(decoding())
				best := 0.0
				for _, r := range []Resource{Cores, Memory, Disk, GPU} {
					after, _ := p.doubled(r).epoch(decoding())
					if after > before*(1+1e-9) {
						t.Errorf("%+v: twice the %s takes %g s instead of %g s", p, r, after, before)
					}
					best = max(best, 1-after/before)
				}
				row := p.row(decoding())
				if best >= worthBuying && (len(row.Buy) == 0 || math.Abs(row.Buy[0].Gain-best) > 1e-9) || best < worthBuying && len(row.Buy) > 0 {
					t.Errorf("%+v: buy %v, the best gain is %g", p, row.Buy, best)
				}
			}
		}
	}
}

// Of rows that are as fast, the first is named: it costs the least.
func TestPaperText(t *testing.T) {
	p := OnPaper{Rows: []PaperRow{
		{Source: true, EpochSeconds: 100, Bound: Cores, Buy: []Purchase{{Cores, 0.5}}},
		{Flags: "--encode jpeg-tiled", EpochSeconds: 50, Bound: GPU},
		{Flags: "--encode raw", EpochSeconds: 49, Bound: GPU},
	}}
	if text := p.text(); !strings.Contains(text, "50 s with --encode jpeg-tiled") || !strings.Contains(text, "nothing to buy") {
		t.Error(text)
	}
	p.Rows = p.Rows[:1]
	if text := p.text(); !strings.Contains(text, "the images as they are") || !strings.Contains(text, "buy cores next: twice as much saves 50 %") {
		t.Error(text)
	}
}
