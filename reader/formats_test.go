package reader_test

import (
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// training draws all that a training usually draws.
func training(mixers ...augment.Op) reader.Config {
	ops := append(augment.Train(20), augment.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}, augment.ImageNet)
	return reader.Config{
		BatchSize: 8, Seed: 11, Transforms: append(ops, mixers...), DType: formats.Float32, Layout: pixel.NCHW,
		Weight: func(in formats.Info) float64 { return float64(in.Label + 1) },
	}
}

var bothMixers = []augment.Op{augment.MixUp{Alpha: 0.4}, augment.CutMix{Alpha: 1}}

// TestBatchesAreTheSameFromAnyFormat holds that nothing but seed and epoch decides what
// batches are.
func TestBatchesAreTheSameFromAnyFormat(t *testing.T) {
	c := newCorpus(t, 60, packings())
	datasets := c.datasets(t)
	for k, tt := range []struct {
		order  string
		change func(*reader.Config)
	}{
		{"full", func(c *reader.Config) { c.Fields = extraFields }},
		{"block:5:3", func(*reader.Config) {}},
		{"none", func(c *reader.Config) {
			c.DType, c.Layout, c.Transforms = formats.Uint8, pixel.NHWC, augment.Train(20)
		}},
		{"balanced", func(c *reader.Config) { c.Transforms = training(bothMixers...).Transforms }},
		{"weighted:77", func(c *reader.Config) { c.DType, c.LabelDType = formats.BFloat16, formats.Uint8 }},
	} {
		if testing.Short() && k > 0 {
			break
		}
		t.Run(tt.order, func(t *testing.T) {
			config := training()
			var err error
			config.Order, err = order.Parse(tt.order)
			must(t, err)
			tt.change(&config)
			var want []step
			for d, ds := range datasets {
				for _, workers := range []int{1, 2, 7, 0} {
					config.Workers, config.Prefetch = workers, 1+d
					how := config
					if workers == 0 {
						how = synchronous(config)
					}
					got := collect(t, newLoader(t, ds, how).Epoch(t.Context(), k))
					if want == nil {
						want = got
					}
					differs(t, c.stored[d].name, workers, got, want)
				}
			}
			config.Seed++
			if other := collect(t, newLoader(t, datasets[0], config).Epoch(t.Context(), k)); reflect.DeepEqual(other, want) {
				t.Error("another seed makes the same batches")
			}
		})
	}
}

// differs names what differs first.
func differs(t *testing.T, name string, workers int, got, want []step) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s, %d workers: %d batches, the folder has %d", name, workers, len(got), len(want))
	}
	for k := range want {
		if got[k].End != want[k].End || len(got[k].Entries) != len(want[k].Entries) {
			t.Fatalf("%s, %d workers: batch %d ends at %d with %d entries, the folder's at %d with %d", name, workers, k,
				got[k].End, len(got[k].Entries), want[k].End, len(want[k].Entries))
		}
		for i, e := range want[k].Entries {
			if got[k].Entries[i] != e {
				t.Fatalf("%s, %d workers: entry %d of batch %d is %v, the folder's with 1 worker is %v", name, workers, i, k, got[k].Entries[i], e)
			}
		}
	}
}

// TestCachedBatchesAreTheSame: a cache changes where samples come from and nothing else.
func TestCachedBatchesAreTheSame(t *testing.T) {
	c := newCorpus(t, 24, packings())
	var want []step
	for d, ds := range c.datasets(t) {
		for _, kind := range []reader.CacheKind{reader.NoCache, reader.Encoded, reader.Decoded} {
			config := training(bothMixers...)
			config.Order, config.Workers, config.Fields = order.Spec{Kind: order.Full}, 3, extraFields
			config.Cache = reader.Cache{Kind: kind, Limit: 64 << 20, Dir: t.TempDir()}
			l := newLoader(t, ds, config)
			for range 2 { // the second time from the cache
				got := collect(t, l.Epoch(t.Context(), 1))
				if want == nil {
					want = got
				}
				differs(t, c.stored[d].name+" "+string(kind), 3, got, want)
			}
			if stats := l.CacheStats(); kind != reader.NoCache && stats.Samples != 24 {
				t.Errorf("%s: %+v", c.stored[d].name, stats)
			}
		}
	}
}

// TestAtIsTheEpochsSample: a sample looks the same by itself, whatever the order.
func TestAtIsTheEpochsSample(t *testing.T) {
	c := newCorpus(t, 24, packings())
	for d, ds := range c.datasets(t) {
		config := training()
		config.Order, config.Fields = order.Spec{Kind: order.Block, Block: 4, Window: 2}, extraFields
		l := newLoader(t, ds, config)
		b := new(reader.Batch)
		for _, s := range collect(t, l.Epoch(t.Context(), 0)) {
			for _, want := range s.Entries {
				must(t, l.At(want.Index, b))
				if got := stepOf(b).Entries; len(got) != 1 || got[0] != want {
					t.Fatalf("%s: At gives %v, the epoch %v", c.stored[d].name, got, want)
				}
			}
		}
	}
}
