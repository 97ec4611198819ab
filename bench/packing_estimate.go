package bench

import (
	"context"
	"math"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
)

const (
	// looked is how many images of a dataset are looked at for their size, and encoded how many
	// are packed to estimate what all would take.
	looked  = 64
	encoded = 32
)

// images are what advice about packing a dataset needs to know of its images.
type images struct {
	side    int // that is enough for what the loader makes of them
	color   preprocess.Color
	deep    bool  // some have 16 bits a channel, and the batches keep them
	shorter []int // sides, of some images, sorted
	same    bool  // they have one size
	memory  int64 // of the machine, 0 if not known
	free    int64 // on the dataset's disk
	// sizeOf estimates the bytes of all images in a recipe; false if it cannot tell.
	sizeOf func(preprocess.Recipe) (int64, bool)
}

// look reads some of ds's images. side is that of what a loader makes of them, in batches of dtype.
func look(ctx context.Context, ds formats.Dataset, side int, color preprocess.Color, dtype formats.DType) *images {
	m := &images{
		side:  side * 8 / 7, // as evaluation resizes before it crops
		color: color, same: true, memory: totalMemory(), free: math.MaxInt64,
	}
	decoder := preprocess.NewDecoder()
	defer decoder.Close()
	var h, w int
	each(ctx, ds, looked, func(s *formats.Sample) {
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

// each reads n of ds's samples, evenly spread; those that cannot be read are left out.
func each(ctx context.Context, ds formats.Dataset, n int, see func(*formats.Sample)) {
	n = min(n, ds.Len())
	var s formats.Sample
	for k := range n {
		if ctx.Err() != nil {
			return
		}
		if ds.Read(k*ds.Len()/n, &s) == nil {
			see(&s)
		}
	}
}

// estimate is what all images of ds would take in a recipe, from some of them.
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

// mostLarger reports whether most images are larger than they need be.
func (m *images) mostLarger() bool {
	return len(m.shorter) > 0 && m.shorter[len(m.shorter)/2] > m.side
}

// allCovered reports whether no image is smaller than it need be.
func (m *images) allCovered() bool { return len(m.shorter) > 0 && m.shorter[0] >= m.side }

// uniform reports whether all images have one size, and that is no larger than need be.
func (m *images) uniform() bool { return m.same && !m.mostLarger() }

// holds reports whether there is room for a dataset of so many bytes: on the disk and, of raw
// pixels, which are read from memory or are slow, in memory, unless it is no larger than it is now.
func (m *images) holds(size, now int64, raw bool) bool {
	return size <= m.free && (!raw || m.memory == 0 || size <= max(m.memory, now))
}
