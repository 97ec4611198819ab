package reader

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// consumer carries out what a Loader left to do, element by element, by the words of Rest's documentation.
type consumer struct {
	final FinalFrame
	h, w  int
	c     int
	size  int  // bytes of an element
	done  bool // images come mirrored, with their values and in their layout
}

func newConsumer(f *FinalFrame) *consumer {
	c := &consumer{final: *f, h: f.Image[0], w: f.Image[1], c: f.Image[2], size: f.DType.Size()}
	if f.Layout == pixel.NCHW {
		c.c, c.h, c.w = f.Image[0], f.Image[1], f.Image[2]
	}
	return c
}

// put stores the element of channel k of pixel x, y by its bits.
func (c *consumer) put(dst []byte, k, y, x int, bits uint32) {
	switch at := c.at(k, y, x); c.size {
	case 1:
		dst[at] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(dst[at:], uint16(bits))
	default:
		binary.LittleEndian.PutUint32(dst[at:], bits)
	}
}

// at is the offset of an element in bytes.
func (c *consumer) at(k, y, x int) int {
	if c.final.Layout == pixel.NCHW {
		return ((k*c.h+y)*c.w + x) * c.size
	}
	return ((y*c.w+x)*c.c + k) * c.size
}

// bits are those of x in the final type.
func (c *consumer) bits(x float32) uint32 {
	switch c.final.DType {
	case formats.Uint8:
		return uint32(x)
	case formats.Float16:
		return uint32(resample.ToFloat16(x))
	case formats.BFloat16:
		return uint32(resample.ToBFloat16(x))
	}
	return math.Float32bits(x)
}

// value is the number that an element's bits stand for.
func (c *consumer) value(b []byte) float32 {
	switch c.size {
	case 1:
		return float32(b[0])
	case 2:
		return halfValue(c.final.DType, binary.LittleEndian.Uint16(b))
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

// image makes of bytes what they become, up to the erasures.
func (c *consumer) image(src []byte, flips uint8) []byte {
	if c.done {
		return slices.Clone(src)
	}
	dst := make([]byte, c.h*c.w*c.c*c.size)
	for y := range c.h {
		for x := range c.w {
			fromX, fromY := x, y
			if flips&1 != 0 {
				fromX = c.w - 1 - x
			}
			if flips&2 != 0 {
				fromY = c.h - 1 - y
			}
			for k := range c.c {
				v := src[(fromY*c.w+fromX)*c.c+k]
				bits := uint32(v)
				if c.final.Values != nil {
					bits = c.final.Values[256*k+int(v)]
				}
				c.put(dst, k, y, x, bits)
			}
		}
	}
	return dst
}

func (c *consumer) erase(dst []byte, e *Erasure) {
	r, i := e.Region, 0
	for k := range c.c {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				v := e.Values[k%len(e.Values)]
				if e.Noise {
					v = e.Values[i]
					i++
				}
				c.put(dst, k, y, x, c.bits(v))
			}
		}
	}
}

// mix mixes dst with the image before it.
func (c *consumer) mix(dst, before []byte, how *augment.Mixing) {
	for k := range c.c {
		for y := range c.h {
			for x := range c.w {
				at, r := c.at(k, y, x), how.Region
				switch {
				case how.Cut && x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H:
					copy(dst[at:][:c.size], before[at:])
				case !how.Cut:
					own := c.rounded(c.value(dst[at:]) * float32(how.Share))
					other := c.rounded(c.value(before[at:]) * float32(1-how.Share))
					c.put(dst, k, y, x, c.bits(own+other))
				}
			}
		}
	}
}

// rounded is x as an element.
func (c *consumer) rounded(x float32) float32 {
	b := binary.LittleEndian.AppendUint32(nil, c.bits(x))
	return c.value(b)
}

// finished is what view k of b becomes; images are all of it, Previous too.
func finished(t *testing.T, l *Loader, b *Batch, k int, images []byte) []byte {
	t.Helper()
	c, rest := newConsumer(&l.Frame().Final[k]), &b.Rest[k]
	c.done = l.frame.leaves == augment.LeaveErasures
	want := b.N
	if rest.Mixing != nil {
		want++
	}
	if len(rest.Flips) != want {
		t.Fatalf("%d flips for %d images", len(rest.Flips), want)
	}
	size := len(images) / want
	var done [][]byte
	for i, flips := range rest.Flips {
		done = append(done, c.image(images[i*size:][:size], flips))
	}
	for i := range rest.Erasures {
		c.erase(done[rest.Erasures[i].Image], &rest.Erasures[i])
	}
	if rest.Mixing != nil {
		for i := b.N - 1; i >= 0; i-- {
			c.mix(done[i], done[(i+b.N)%(b.N+1)], rest.Mixing)
		}
	}
	return bytes.Join(done[:b.N], nil)
}

// sameFinished compares what c's batches become with those of the Loader that finishes them itself.
func sameFinished(t *testing.T, ds formats.Dataset, c Config, epoch int) {
	t.Helper()
	want := collect(t, makeLoader(t, ds, c), epoch)
	c.Deferred = true
	l := makeLoader(t, ds, c)
	got := collect(t, l, epoch)
	if len(got) != len(want) {
		t.Fatalf("%d batches, want %d", len(got), len(want))
	}
	for i, b := range got {
		sameRest(t, b, want[i])
		for k := range b.Views() {
			if frame := l.Frame(); b.DType != formats.Uint8 || frame.DType != formats.Uint8 || frame.Final[k].DType != c.DType {
				t.Fatalf("batches of %s, frame of %s, then %s", b.DType, frame.DType, frame.Final[k].DType)
			}
			images := b.ViewBytes(k)
			if k == 0 {
				images = slices.Concat(images, b.Previous())
			}
			if !bytes.Equal(finished(t, l, b, k, images), want[i].ViewBytes(k)) {
				t.Fatalf("batch %d of %d: view %d differs", i, len(got), k)
			}
		}
	}
	checkSingles(t, l, want)
}

// sameRest compares all of two batches but the images.
func sameRest(t *testing.T, b, want *Batch) {
	t.Helper()
	if !slices.Equal(b.Indices, want.Indices) || !bytes.Equal(b.LabelBytes(), want.LabelBytes()) ||
		!slices.Equal(b.Soft, want.Soft) || !slices.Equal(b.MultiHot, want.MultiHot) {
		t.Fatalf("samples %v, want %v, or their labels differ", b.Indices, want.Indices)
	}
	if b.N != want.N || b.End != want.End || b.Skipped != want.Skipped || b.Substituted != want.Substituted {
		t.Fatalf("%d, %d, %d, %d, want %d, %d, %d, %d", b.N, b.End, b.Skipped, b.Substituted, want.N, want.End, want.Skipped, want.Substituted)
	}
	for k := range want.Fields {
		if !bytes.Equal(b.Fields[k].Data, want.Fields[k].Data) || !slices.EqualFunc(b.Fields[k].Shapes, want.Fields[k].Shapes, slices.Equal) {
			t.Fatalf("the field %s differs", want.Fields[k].Name)
		}
	}
}

// checkSingles: what Pick gives is finished.
func checkSingles(t *testing.T, l *Loader, want []*Batch) {
	t.Helper()
	if l.mixer != nil {
		return
	}
	b := new(Batch)
	if err := l.Pick(0, 0, b); err != nil {
		return // a bad sample
	}
	if b.DType != want[0].DType || b.Rest != nil || b.Previous() != nil || !slices.Equal(b.Shape[1:], want[0].Shape[1:]) {
		t.Fatalf("a single sample is %s, %v, and has the rest %v", b.DType, b.Shape, b.Rest)
	}
}

func parsed(t testing.TB, text string) augment.Ops {
	t.Helper()
	ops, err := augment.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

// allTransforms are lists with every op; under -race, where goroutines count and not kernels, some of them.
func allTransforms() []string {
	if UnderRace {
		return manyTransforms[5:8]
	}
	return manyTransforms
}

var manyTransforms = []string{
	"resize:24,centercrop:20x22",
	"rrc:20,flip",
	"rrc:20x17,flip,vflip,normalize",
	"resize:30x26,crop:22:pad=3,flip,jitter:0.4:0.4:0.4:0.1,normalize,erase:0.9",
	"rrc:19:bicubic,flip,equalize:0.5,erase:0.9:value=random",
	"randaugment,rrc:18,flip,erase:0.9:value=0.25/0.5/1",
	"trivialaugment,rotate:30,resize:16,centercrop:16,vflip,blur:5:sigma=0.1-2",
	"rrc:16,flip,normalize,erase:0.5:value=random,mixup:0.4,cutmix:1",
	"rrc:16,flip,vflip,mixup:0.2",
	"rrc:16,flip,erase,cutmix:1",
}

// TestDeferredBatchesBecomeTheSame for all ops, types and layouts.
// allTypes are those of batches; under -race one of them.
func allTypes() []formats.DType {
	if UnderRace {
		return []formats.DType{formats.Float32}
	}
	return []formats.DType{formats.Uint8, formats.Float32, formats.Float16, formats.BFloat16}
}

// bothLayouts are those of batches; under -race one of them.
func bothLayouts() []pixel.Layout {
	if UnderRace {
		return []pixel.Layout{pixel.NCHW}
	}
	return []pixel.Layout{pixel.NHWC, pixel.NCHW}
}

func TestDeferredBatchesBecomeTheSame(t *testing.T) {
	ds := manyEncodings(t, 17)
	for _, text := range allTransforms() {
		for _, d := range allTypes() {
			c := Config{BatchSize: 5, Workers: 2, Seed: 3, Shuffle: true, DType: d, Transforms: parsed(t, text)}
			if _, err := augment.CompileEach(c.Transforms, 3, d, pixel.NHWC); err != nil {
				if !strings.Contains(err.Error(), "batches of") || d != formats.Uint8 {
					t.Fatal(err)
				}
				continue
			}
			for _, layout := range bothLayouts() {
				c.Layout = layout
				t.Run(fmt.Sprintf("%s/%s/%s", text, d, layout), func(t *testing.T) { sameFinished(t, ds, c, 1) })
			}
		}
	}
}

// TestDeferredGray: one channel.
func TestDeferredGray(t *testing.T) {
	c := Config{BatchSize: 4, Seed: 1, Color: pixel.ColorGray, DType: formats.Float16, Transforms: parsed(t, "rrc:15,flip,normalize:0.4:0.3,erase:0.9:value=random,mixup:1")}
	sameFinished(t, manyEncodings(t, 9), c, 0)
}

// TestDeferredViews: each view has a Rest and tables of its own.
func TestDeferredViews(t *testing.T) {
	c := Config{BatchSize: 4, Workers: 3, Seed: 9, DType: formats.BFloat16, Layout: pixel.NCHW, Views: multiCrop(t)}
	c.Views[1] = append(c.Views[1], augment.RandomErasing{P: 0.8, Random: true})
	sameFinished(t, manyEncodings(t, 11), c, 2)
}

// TestDeferredBadSamples: what is left to do moves with the images, and Previous with the batch's end.
func TestDeferredBadSamples(t *testing.T) {
	for _, bad := range [][]int{{0}, {2, 3}, {4}, {1, 5, 9, 14}} {
		ds, names := damaged(t, 17, bad...)
		for _, onError := range []OnError{Skip, Substitute} {
			for _, mixer := range []string{"", ",mixup:1", ",cutmix:1"} {
				c := Config{
					BatchSize: 5, Workers: 3, Seed: 2, DType: formats.Float32, OnError: onError, Shuffle: len(bad) > 2,
					Transforms: parsed(t, "centercrop:4,flip,vflip,erase:0.8:value=random"+mixer),
				}
				if mixer == "" {
					c.Fields = names
				}
				sameFinished(t, unsized{ds}, c, 0)
			}
		}
	}
}

// TestDeferredPadding: of ranks, and by every tail.
func TestDeferredPadding(t *testing.T) {
	ds := noisy(13, imageSide, imageSide+3)
	for _, tail := range []order.Tail{order.Pad, order.Drop, order.Repeat} {
		for rank := range 3 {
			c := Config{
				BatchSize: 4, Rank: rank, WorldSize: 3, Tail: tail, DType: formats.Float32, Synchronous: rank == 1,
				Transforms: parsed(t, "flip,normalize,mixup:1,cutmix:1"),
			}
			sameFinished(t, ds, c, 3)
		}
	}
}

// TestDeferredInLentMemory: the blocks have room for Previous, and are whole after TakeImages.
func TestDeferredInLentMemory(t *testing.T) {
	ds := noisy(13, imageSide, imageSide+3)
	c := Config{BatchSize: 4, Seed: 6, DType: formats.Float32, Transforms: parsed(t, "flip,mixup:1")}
	want := collect(t, makeLoader(t, ds, c), 0)
	c.Deferred = true
	l := makeLoader(t, ds, c)
	if size := 5 * imageSide * (imageSide + 3) * 3; l.MemorySize() != size {
		t.Fatalf("blocks of %d bytes, want %d", l.MemorySize(), size)
	}
	r, err := l.StartWith(t.Context(), RunOptions{Allocate: func(n int) []byte { return make([]byte, n) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	for i := range want {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		images := b.TakeImages()
		if !bytes.Equal(finished(t, l, b, 0, images), want[i].ImageBytes()) {
			t.Fatalf("batch %d differs", i)
		}
		if b.Previous() != nil || b.TakeImages() != nil {
			t.Error("images that were taken are still there")
		}
	}
}

// TestDeferredClones have a Rest of their own, and a batch that is over has none.
func TestDeferredClones(t *testing.T) {
	ds := noisy(12, imageSide, imageSide+3)
	c := Config{BatchSize: 4, DType: formats.Float32, Deferred: true, Transforms: parsed(t, "flip,erase:1:value=random,mixup:1")}
	l := makeLoader(t, ds, c)
	var first, clone *Batch
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, clone = b, b.Clone()
			if !bytes.Equal(clone.Previous(), b.Previous()) || len(b.Previous()) == 0 || &clone.Previous()[0] == &b.Previous()[0] {
				t.Error("the clone's Previous is not a copy")
			}
			if &clone.Rest[0].Erasures[0].Values[0] == &b.Rest[0].Erasures[0].Values[0] {
				t.Error("the clone shares the values of erasures")
			}
		}
	}
	if first.Rest != nil {
		t.Error("a batch that is over has a Rest")
	}
	again := collect(t, l, 0)[0]
	if !bytes.Equal(finished(t, l, clone, 0, slices.Concat(clone.ImageBytes(), clone.Previous())),
		finished(t, l, again, 0, slices.Concat(again.ImageBytes(), again.Previous()))) {
		t.Error("the clone changed")
	}
}

// TestDeferredRefuses what bytes cannot hold.
func TestDeferredRefuses(t *testing.T) {
	for want, c := range map[string]Config{
		"uint16":   {DType: formats.Uint16},
		"16 bits":  {Color: pixel.ColorKeep},
		"any size": {AnySize: true},
	} {
		c.BatchSize, c.Deferred = 2, true
		if _, err := c.WithDefaults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
