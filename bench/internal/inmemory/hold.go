package inmemory

import (
	"context"
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// holder reads the samples that a Dataset holds.
type holder struct {
	ds      formats.Dataset
	options Options
	image   int
	decoder *codec.Decoder
	pixels  pixel.Image
	failed  error // of the first sample that could not be read
}

// errNone is returned where none of a range of samples can be used.
var errNone = errors.New("no sample of the split can be decoded")

// count is how many samples to hold.
func (h *holder) count(ctx context.Context) (int, error) {
	n := min(h.ds.Len(), most)
	var sum int64
	seen := min(n, tried)
	found := 0
	for k := range seen {
		_, pixels, err := h.near(ctx, k, seen)
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += pixels
		found++
	}
	if found == 0 {
		if h.failed != nil {
			return 0, h.failed
		}
		return 0, errNone
	}
	return int(min(int64(n), max(1, h.options.Limit*int64(found)/max(sum, 1)))), nil
}

// near reads the first usable sample of part k of n, and returns the bytes of its pixels.
func (h *holder) near(ctx context.Context, k, n int) (*formats.Sample, int64, error) {
	from, to := formats.Portion{Index: k, Count: n}.Range(h.ds.Len())
	for i := from; i < to; i++ {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		s, pixels, err := h.use(i)
		if err == nil && s != nil {
			return s, pixels, nil
		}
		if h.failed == nil {
			h.failed = err
		}
	}
	return nil, 0, errNone
}

// use reads sample i into memory of its own; nil if it is in another split.
func (h *holder) use(i int) (*formats.Sample, int64, error) {
	in, err := h.ds.Info(i)
	if err != nil || h.options.Split != "" && in.Split != h.options.Split {
		return nil, 0, err
	}
	var s formats.Sample
	if err := h.ds.Read(i, &s); err != nil {
		return nil, 0, err
	}
	if err := h.decoder.Decode(&h.pixels, &s.Values[h.image], h.options.Decode); err != nil {
		return nil, 0, err
	}
	own := formats.Sample{Key: s.Key, Split: s.Split, Values: make([]formats.Value, len(s.Values))}
	for k := range s.Values {
		own.Values[k].Set(s.Values[k])
	}
	return &own, int64(len(h.pixels.Pix)), nil
}
