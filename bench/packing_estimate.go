package bench

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

const (
	inspected = 64 // images of a dataset whose size is read
	encoded   = 32 // images that are packed to estimate the size of all
)

// images are what advice about packing a dataset needs to know about its images.
type images struct {
	side    int // that is enough for the loader
	color   pixel.Color
	deep    bool  // some have 16 bits per channel, and the batches keep them
	crops   bool  // the loader needs only a part of each image
	tiled   bool  // JPEGs of which a part is decoded alone
	shorter []int // shorter sides of some images, sorted
	same    bool  // all have the same size
	memory  int64 // of the machine, 0 if unknown
	free    int64 // on the dataset's disk
	// sizeOf estimates the bytes of all images packed with a recipe; false if it cannot.
	sizeOf func(preprocess.Recipe) (int64, bool)
}

// inspect reads some of ds's images, which a loader with config uses. side is that of the images in its batches.
func inspect(ctx context.Context, ds formats.Dataset, side int, config *reader.Config) *images {
	color, dtype := config.Color, config.DType
	encode := ds.Meta().Recipe["encode"]
	m := &images{
		crops: firstCrops(config), tiled: strings.HasPrefix(encode, "jpeg-tiled") || strings.Contains(encode, ":tile="),
		side:  side * 8 / 7, // as evaluation resizes before it crops
		color: color, same: true, memory: totalMemory(), free: math.MaxInt64,
	}
	decoder := codec.NewDecoder()
	defer decoder.Close()
	var h, w int
	each(ctx, ds, inspected, func(s *formats.Sample) {
		v := &s.Values[ds.Meta().Schema.ImageIndex()]
		head, err := decoder.Inspect(v)
		if err != nil {
			return
		}
		m.same = m.same && (len(m.shorter) == 0 || head.H == h && head.W == w)
		m.deep = m.deep || dtype == formats.Uint16 && head.DType == formats.Uint16
		h, w = head.H, head.W
		m.shorter = append(m.shorter, min(h, w))
	})
	slices.Sort(m.shorter)
	m.sizeOf = func(r preprocess.Recipe) (int64, bool) { return estimate(ctx, ds, r) }
	return m
}

// firstCrops reports whether the first transform takes a part of the image, so that not all of it has to be decoded.
func firstCrops(config *reader.Config) bool {
	ops := config.Transforms
	if len(config.Views) > 0 {
		ops = config.Views[0]
	}
	if len(ops) == 0 {
		return false
	}
	switch ops[0].(type) {
	case augment.RandomResizedCrop, *augment.RandomResizedCrop, augment.RandomCrop, *augment.RandomCrop, augment.CenterCrop, *augment.CenterCrop:
		return true
	}
	return false
}

// each calls use with n of ds's samples, evenly spread, except those that cannot be read.
func each(ctx context.Context, ds formats.Dataset, n int, use func(*formats.Sample)) {
	n = min(n, ds.Len())
	var s formats.Sample
	for k := range n {
		if ctx.Err() != nil {
			return
		}
		if ds.Read(k*ds.Len()/n, &s) == nil {
			use(&s)
		}
	}
}

// estimate returns the bytes of all images of ds packed with a recipe, estimated from some of them.
func estimate(ctx context.Context, ds formats.Dataset, r preprocess.Recipe) (int64, bool) {
	schema := ds.Meta().Schema
	proc, err := preprocess.NewProcessor(r, schema)
	if err != nil {
		return 0, false
	}
	defer proc.Close()
	var bytes, n int64
	var out formats.Sample
	each(ctx, ds, encoded, func(s *formats.Sample) {
		if proc.Process(s, &out) == nil {
			bytes += int64(len(out.Values[schema.ImageIndex()].Data))
			n++
		}
	})
	if n == 0 {
		return 0, false
	}
	return bytes * int64(ds.Len()) / n, true
}

// mostTooLarge reports whether most images are larger than the loader needs.
func (m *images) mostTooLarge() bool {
	return len(m.shorter) > 0 && m.shorter[len(m.shorter)/2] > m.side
}

// allLargeEnough reports whether no image is smaller than the loader needs.
func (m *images) allLargeEnough() bool { return len(m.shorter) > 0 && m.shorter[0] >= m.side }

// uniform reports whether all images have the same size, no larger than the loader needs.
func (m *images) uniform() bool { return m.same && !m.mostTooLarge() }

// holds reports whether a dataset of so many bytes fits: on the disk and, for raw pixels, which are
// slow unless they are read from memory, in memory, unless it is no larger than it is now.
func (m *images) holds(size, now int64, raw bool) bool {
	return size <= m.free && (!raw || m.memory == 0 || size <= max(m.memory, now))
}
