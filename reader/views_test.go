package reader

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/reader/random"
)

// encodings are ways to store an image of views.
var encodings = []codec.EncodeOptions{
	{Encoding: formats.JPEG},
	{Encoding: formats.JPEG, Interval: 3},
	{Encoding: formats.JPEG, Progressive: true},
	{Encoding: formats.PNG},
	{Encoding: formats.Raw},
}

// manyEncodings is n pictures of odd sizes: small and larger ones, in all encodings in turn, upright and turned.
func manyEncodings(t testing.TB, n int) *memory {
	t.Helper()
	d := newMemory()
	for i := range n {
		size := []int{1, 7}[i/len(encodings)%2]
		m, err := pixel.FromImage(picture((40+i%17)*size, (30+i%23)*size, i))
		if err != nil {
			t.Fatal(err)
		}
		o := encodings[i%len(encodings)]
		var b bytes.Buffer
		if err := codec.Encode(&b, rgb(m), o); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if o.Encoding == formats.JPEG {
			data = pixeltest.WithOrientation(data, byte(1+i/len(encodings)%8))
		}
		d.add("train", formats.Value{Data: data, Encoding: o.Encoding, DType: formats.Uint8, Shape: []int{m.H, m.W, 3}})
	}
	return d
}

// rgb is m without its alpha channel.
func rgb(m *pixel.Image) *pixel.Image {
	out := new(pixel.Image)
	out.Reset(m.H, m.W, 3, m.DType)
	step := len(m.Pix) / (m.H * m.W)
	for i := range m.H * m.W {
		copy(out.Pix[3*i:3*i+3], m.Pix[step*i:])
	}
	return out
}

// speckle is an op of the user's own that draws.
var speckle = augment.Func{Name: "speckle", Apply: func(m *pixel.Image, r *random.Rand) error {
	for range 20 {
		m.Pix[r.IntN(len(m.Pix))] ^= byte(r.Uint64())
	}
	return nil
}}

// multiCrop is what DINO does to an image: large crops, and small ones that lie anywhere.
func multiCrop(t testing.TB) []augment.Ops {
	t.Helper()
	var views []augment.Ops
	for _, text := range []string{
		"rrc:40,flip,jitter:0.4:0.4:0.2:0.1,blur:5:sigma=0.1-2", "rrc:40,flip,normalize",
		"rrc:17:scale=0.05-0.3,flip,rotate:20", "flip,vflip,resize:18x11,gray:0.5", "rrc:13:scale=0.01-0.05", "resize:30,centercrop:22x25,normalize",
		"rrc:12:scale=0.01-0.05",
	} {
		ops, err := augment.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, ops)
	}
	views[4] = slices.Insert(views[4], 0, augment.Op(speckle)) // on the whole image, before it is cropped
	views[2] = append(views[2], speckle)
	return views
}

// oneView is the configuration of the Loader that view k of c is compared with.
func oneView(c Config, k int) Config {
	c.Transforms, c.Views, c.Seed = c.Views[k], nil, ViewSeed(c.Seed, k)
	return c
}

// sameViews compares every view in got with the batches that the Loader of that view alone gives.
func sameViews(t *testing.T, ds formats.Dataset, c Config, epoch int, got []*Batch) {
	t.Helper()
	for k := range c.Views {
		want := collect(t, makeLoader(t, ds, oneView(c, k)), epoch)
		if len(got) != len(want) {
			t.Fatalf("%d batches, want %d", len(got), len(want))
		}
		for i, b := range got {
			if !slices.Equal(b.Indices, want[i].Indices) || !bytes.Equal(b.LabelBytes(), want[i].LabelBytes()) {
				t.Fatalf("batch %d: samples %v, want %v", i, b.Indices, want[i].Indices)
			}
			if b.ViewShape(k) != want[i].Shape {
				t.Fatalf("batch %d: view %d has the shape %v, want %v", i, k, b.ViewShape(k), want[i].Shape)
			}
			size := len(b.ViewBytes(k)) / b.N
			for j := range b.N {
				if !bytes.Equal(b.ViewBytes(k)[j*size:][:size], want[i].ImageBytes()[j*size:][:size]) {
					t.Fatalf("batch %d: view %d of sample %d differs from that of one view alone", i, k, b.Indices[j])
				}
			}
		}
	}
}

// TestViewsAreThoseOfLoadersWithOneView holds that neither the shared decode nor the other views change a pixel,
// for all encodings, types, sizes and orientations.
func TestViewsAreThoseOfLoadersWithOneView(t *testing.T) {
	samples, epochs := 83, 2
	if testing.Short() {
		samples, epochs = 43, 1 // each orientation, in each encoding
	}
	ds := manyEncodings(t, samples)
	views := multiCrop(t)
	for i, c := range []Config{
		{DType: formats.Float32, Layout: pixel.NCHW, ApplyOrientation: true},
		{DType: formats.Uint8},
		{DType: formats.BFloat16, Layout: pixel.NCHW, Color: pixel.ColorGray, Cache: Cache{Kind: Decoded, Limit: 1 << 26, Dir: t.TempDir()}},
		{DType: formats.Float16, FastDecode: jpeg.HasLibjpegTurbo, Cache: Cache{Kind: Encoded, Limit: 1 << 26, Dir: t.TempDir()}},
		{DType: formats.Uint8, Tail: order.Drop, WorldSize: 3, Rank: 1},
	} {
		c.BatchSize, c.Seed, c.Workers, c.Views = 9, 5, []int{1, 2, 7}[i%3], slices.Clone(views)
		if c.DType == formats.Uint8 || c.Color == pixel.ColorGray {
			c.Views[1], c.Views[5] = augment.Train(40), views[2] // cannot be normalised
			c.Views[0], c.Views[3] = views[3], augment.Train(9)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			l := makeLoader(t, ds, c)
			for epoch := range epochs {
				sameViews(t, ds, c, epoch, collect(t, l, epoch))
			}
		})
	}
}

// TestViewsOfOneKindDiffer holds that equal views draw for themselves, and that the first draws as a Loader
// without views does.
func TestViewsOfOneKindDiffer(t *testing.T) {
	ds := manyEncodings(t, 20)
	c := Config{BatchSize: 20, Seed: 3, Views: []augment.Ops{augment.Train(16), augment.Train(16), augment.Train(16)}}
	b := collect(t, makeLoader(t, ds, c), 0)[0]
	if b.Views() != 3 || ViewSeed(3, 0) != 3 || ViewSeed(3, 1) == ViewSeed(3, 2) || ViewSeed(3, 1) == ViewSeed(4, 1) {
		t.Errorf("%d views, seeds %d, %d, %d", b.Views(), ViewSeed(3, 0), ViewSeed(3, 1), ViewSeed(3, 2))
	}
	for k := range 3 {
		if bytes.Equal(b.ViewBytes(k), b.ViewBytes((k+1)%3)) {
			t.Errorf("view %d and the one after it are equal", k)
		}
	}
	if !slices.Equal(Pixels[uint8](b), ViewPixels[uint8](b, 0)) || b.Shape != b.ViewShape(0) {
		t.Error("the batch is not its first view")
	}
}

// TestViewsWithBadSamples holds that gaps are closed in all views, and that substitutes are whole.
func TestViewsWithBadSamples(t *testing.T) {
	ds := manyEncodings(t, 47)
	for _, i := range []int{0, 3, 13, 14, 46} {
		v := &ds.samples[i].Values[0]
		v.Data, v.Encoding = []byte("no image"), formats.JPEG
	}
	c := Config{BatchSize: 6, Seed: 5, Workers: 3, OnError: Skip, Views: multiCrop(t), DType: formats.Float32}
	sameViews(t, ds, c, 1, collect(t, makeLoader(t, ds, c), 1))

	c.OnError = Substitute
	good := makeLoader(t, ds, c)
	var one Batch
	for _, b := range collect(t, good, 1) {
		for j, index := range b.Indices {
			if index < 0 {
				continue
			}
			if err := good.Pick(index, 1, &one); err != nil {
				t.Fatal(err)
			}
			for k := range b.Views() {
				size := len(one.ViewBytes(k))
				if !bytes.Equal(b.ViewBytes(k)[j*size:][:size], one.ViewBytes(k)) {
					t.Fatalf("view %d of sample %d is not the one that Pick makes", k, index)
				}
			}
		}
	}
}

// damages are ways to damage a file at a place behind its header.
var damages = map[string]func(file []byte, at int) []byte{
	"cut": func(file []byte, at int) []byte { return file[:at] },
	"flipped": func(file []byte, at int) []byte {
		for i := at; i < min(at+40, len(file)-2); i += 7 {
			file[i] ^= 0x15
		}
		return file
	},
	"marker twice": func(file []byte, at int) []byte { // the next restart marker
		for i := at; i+1 < len(file); i++ {
			if file[i] == 0xff && file[i+1]&0xf8 == 0xd0 {
				return slices.Insert(file, at, file[i:i+2]...)
			}
		}
		return file
	},
}

// TestDamageOfAnotherView holds that a sample is bad if, and only if, one of its views cannot be made alone, also
// where the rectangle around the views holds damage that none of them has; and that damage in one view's part
// leaves the others' pixels.
func TestDamageOfAnotherView(t *testing.T) {
	const header, parts = 700, 16
	crops := multiCrop(t)
	c := Config{BatchSize: 1, Seed: 5, DType: formats.Float32, Views: []augment.Ops{crops[6], crops[2], crops[6]}}
	for name, damage := range damages {
		for part := 13; part < parts; part += 2 {
			ds := manyEncodings(t, 60)
			for i := range ds.samples {
				if v := &ds.samples[i].Values[0]; v.Encoding == formats.JPEG {
					v.Data = damage(slices.Clone(v.Data), header+(len(v.Data)-header)*part/parts)
				}
			}
			l := makeLoader(t, ds, c)
			var alone []*Loader
			for k := range c.Views {
				alone = append(alone, makeLoader(t, ds, oneView(c, k)))
			}
			for i := range ds.samples {
				for epoch := range 3 {
					sameDamage(t, fmt.Sprintf("%s at %d/%d", name, part, parts), l, alone, i, epoch)
				}
			}
		}
	}
}

// sameDamage compares a sample of l with that of each of its views alone.
func sameDamage(t *testing.T, what string, l *Loader, alone []*Loader, i, epoch int) {
	t.Helper()
	var b, one Batch
	var bad error
	err := l.Pick(i, epoch, &b)
	for k := range alone {
		if e := alone[k].Pick(i, epoch, &one); e != nil {
			bad = e
		} else if err == nil && !bytes.Equal(one.ImageBytes(), b.ViewBytes(k)) {
			t.Errorf("%s: view %d of sample %d in epoch %d differs from that of one view alone", what, k, i, epoch)
		}
	}
	if (err == nil) != (bad == nil) {
		t.Errorf("%s: sample %d in epoch %d: error %v, of its views alone %v", what, i, epoch, err, bad)
	}
}

// TestResumeWithViews begins at every position, with another batch size.
func TestResumeWithViews(t *testing.T) {
	ds := manyEncodings(t, 31)
	c := Config{BatchSize: 1, Workers: 3, Seed: 9, Views: multiCrop(t), DType: formats.Float32}
	c.Order.Kind = order.Full
	want := collect(t, makeLoader(t, ds, c), 4)
	c.BatchSize = 4
	l := makeLoader(t, ds, c)
	for position := range len(want) {
		at := position
		for b, err := range l.Resume(t.Context(), l.StateAt(4, position)) {
			if err != nil {
				t.Fatal(err)
			}
			for j := range b.N {
				for k := range b.Views() {
					size := len(want[at].ViewBytes(k))
					if !bytes.Equal(b.ViewBytes(k)[j*size:][:size], want[at].ViewBytes(k)) {
						t.Fatalf("resumed at %d: view %d of position %d differs", position, k, at)
					}
				}
				at++
			}
		}
		if at != len(want) {
			t.Fatalf("resumed at %d: ended at %d", position, at)
		}
	}
}

// TestViewsInLentMemory holds that all views lie in the one block that the Allocator gives, where Frame says, in
// short batches too, and that Keep, Clone and Release mean all of them.
func TestViewsInLentMemory(t *testing.T) {
	ds := rawImages(11, 9, 7, 3)
	c := Config{BatchSize: 4, Tail: order.Uneven, Views: []augment.Ops{{}, {augment.CenterCrop{H: 5, W: 3}}, {augment.RandomVerticalFlip{P: 1}}}}
	l := makeLoader(t, ds, c)
	want := collect(t, l, 0)
	run, err := l.StartWith(t.Context(), RunOptions{Allocate: func(size int) []byte {
		if size != l.MemorySize() {
			t.Errorf("%d bytes are asked for, MemorySize is %d", size, l.MemorySize())
		}
		return aligned(nil, size)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Stop()
	for i := range want {
		b, err := run.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clone := b.Clone()
		block := b.TakeImages()
		for k, v := range l.Frame().Views {
			bytesOf := want[i].ViewBytes(k)
			if !bytes.Equal(block[v.Offset:][:len(bytesOf)], bytesOf) || !bytes.Equal(clone.ViewBytes(k), bytesOf) {
				t.Errorf("batch %d: view %d is not where Frame says, or not in the clone", i, k)
			}
			if v.Offset%viewAlign != 0 || b.ViewBytes(k) != nil {
				t.Errorf("view %d: offset %d; %d bytes after TakeImages", k, v.Offset, len(b.ViewBytes(k)))
			}
		}
	}
}

// TestKeptViewsStay while later batches are made in other memory.
func TestKeptViewsStay(t *testing.T) {
	ds := rawImages(40, 9, 7, 3)
	l := makeLoader(t, ds, Config{BatchSize: 4, Workers: 2, Views: []augment.Ops{{}, augment.Train(4)}})
	want := collect(t, l, 0)
	var kept []*Batch
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Keep()
		kept = append(kept, b)
	}
	for i, b := range kept {
		if !bytes.Equal(b.ViewBytes(1), want[i].ViewBytes(1)) {
			t.Errorf("view 1 of batch %d changed", i)
		}
		b.Release()
		if got := b.ViewShape(1); got != want[i].ViewShape(1) {
			t.Errorf("the shape of a released batch is %v", got)
		}
	}
}

// TestRepeatedSamplesWithViews are drawn by position, as with one view.
func TestRepeatedSamplesWithViews(t *testing.T) {
	ds := manyEncodings(t, 30)
	c := Config{BatchSize: 7, Seed: 2, Views: []augment.Ops{augment.Train(12), augment.Train(12)}}
	l := makeLoader(t, ds, c)
	list := []int32{3, 3, 8, 3, 21}
	batches := func(l *Loader) *Batch {
		run, err := l.StartWith(t.Context(), RunOptions{Epoch: 3, List: list})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Stop()
		b, err := run.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b.Clone()
	}
	got := batches(l)
	for k := range 2 {
		if want := batches(makeLoader(t, ds, oneView(c, k))); !bytes.Equal(got.ViewBytes(k), want.ImageBytes()) {
			t.Errorf("view %d differs", k)
		}
	}
	var one Batch
	if err := l.PickAt(3, 1, 3, &one); err != nil {
		t.Fatal(err)
	}
	if size := len(one.ViewBytes(1)); !bytes.Equal(one.ViewBytes(1), got.ViewBytes(1)[size:2*size]) {
		t.Error("PickAt makes another view than the epoch")
	}
}

// TestPickViewsOfAnySize are of their own sizes.
func TestPickViewsOfAnySize(t *testing.T) {
	ds := manyEncodings(t, 12)
	c := Config{BatchSize: 1, AnySize: true, Views: []augment.Ops{nil, {augment.RandomHorizontalFlip{P: 1}}, augment.Train(11)}}
	l := makeLoader(t, ds, c)
	for i := range ds.samples {
		var b, one Batch
		if err := l.Pick(i, 0, &b); err != nil {
			t.Fatal(err)
		}
		for k := range c.Views {
			if err := makeLoader(t, ds, oneView(c, k)).Pick(i, 0, &one); err != nil {
				t.Fatal(err)
			}
			if one.Shape != b.ViewShape(k) || !bytes.Equal(one.ImageBytes(), b.ViewBytes(k)) {
				t.Errorf("sample %d: view %d of %v differs from one of %v", i, k, b.ViewShape(k), one.Shape)
			}
		}
	}
}

func TestImpossibleViews(t *testing.T) {
	ds := manyEncodings(t, 6)
	ds.addField(formats.Field{Name: "mask", Kind: formats.Mask}, func(int) formats.Value { return ds.samples[4].Values[0] })
	train := augment.Train(8)
	for want, c := range map[string]Config{
		"views and transforms exclude each other":       {Transforms: train, Views: []augment.Ops{train}},
		"view 2 of 2: mixup":                            {Views: []augment.Ops{train, append(slices.Clone(train), augment.MixUp{Alpha: 1})}, DType: formats.Float32},
		"leave out the field or the views":              {Views: []augment.Ops{train, train}, Fields: []string{"mask"}},
		"view 2 of 3: transforms: op 0 is nil":          {Views: []augment.Ops{train, {nil}, train}},
		"images differ in size":                         {Views: []augment.Ops{train, nil}},
		"view 1 of 1: normalize":                        {Views: []augment.Ops{append(slices.Clone(train), augment.ImageNet)}},
		"view 2 of 2: transform 1 of 1 is nil (*augmen": {Views: []augment.Ops{train, {(*augment.RandomHorizontalFlip)(nil)}}, AnySize: true},
	} {
		c.BatchSize = 2
		l, err := New(ds, c)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	// The error of a sample names the view, and the sample.
	refuse := augment.Func{Name: "refuse", Apply: func(*pixel.Image, *random.Rand) error { return errors.New("too dark") }}
	l := makeLoader(t, ds, Config{BatchSize: 1, Views: []augment.Ops{train, append(slices.Clone(train), refuse)}})
	var b Batch
	err := l.At(1, &b)
	if err == nil || !strings.Contains(err.Error(), "view 2 of 2: transform train/sample00001: func:refuse: too dark") {
		t.Errorf("error %v", err)
	}
}

func TestNoSuchView(t *testing.T) {
	l := makeLoader(t, rawImages(2, 4, 4, 3), Config{BatchSize: 1})
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{-1, 1} {
			for name, call := range map[string]func(){
				"ViewShape": func() { b.ViewShape(k) }, "ViewBytes": func() { b.ViewBytes(k) }, "ViewPixels": func() { ViewPixels[uint8](b, k) },
			} {
				func() {
					defer func() {
						if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), name+" of view") {
							t.Errorf("%s of view %d: %v", name, k, p)
						}
					}()
					call()
				}()
			}
		}
	}
}

// TestViewsFarApartAreDecodedApart by the tiles that lie between them.
func TestViewsFarApartAreDecodedApart(t *testing.T) {
	cost := func(r pixel.Rect) int { return 50 + r.W*r.H }
	groups := func(regions ...pixel.Rect) (views [][]int) {
		var all []viewGroup
		for k, r := range regions {
			all = append(all, viewGroup{views: []int{k}, region: r, cost: cost(r)})
		}
		for _, g := range merge(all, cost) {
			slices.Sort(g.views)
			views = append(views, g.views)
		}
		return views
	}
	near, nearer, far := pixel.Rect{W: 10, H: 10}, pixel.Rect{X: 5, Y: 2, W: 9, H: 9}, pixel.Rect{X: 90, Y: 90, W: 8, H: 8}
	if got := fmt.Sprint(groups(near, far, nearer, far)); got != "[[0 2] [1 3]]" {
		t.Errorf("groups %s", got)
	}
	if got := fmt.Sprint(groups(near, far, pixel.Rect{W: 100, H: 100})); got != "[[0 1 2]]" {
		t.Errorf("groups %s", got)
	}
}
