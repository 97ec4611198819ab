package reader

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

var errDisk = errors.New("input/output error")

// damaged is furnished samples of which some are bad: by their bytes, the disk or their size, in
// turn.
func damaged(t testing.TB, n int, bad ...int) (*memory, []string) {
	t.Helper()
	ds, names, _ := furnished(t, n)
	ds.meta.Schema[1].Classes = classes(10)
	ds.broken = map[int]error{}
	for k, i := range bad {
		switch k % 3 {
		case 0:
			ds.samples[i].Values[0] = cutJPEG(t)
		case 1:
			ds.broken[i] = errDisk
		case 2:
			ds.samples[i].Values[0] = raw(formats.Uint8, make([]byte, 3*3*3), 3, 3, 3)
		}
	}
	return ds, names
}

// unsized hides sizes, so that New does not find the one of another size.
type unsized struct{ *memory }

func (d unsized) Info(i int) (formats.Info, error) {
	return formats.Info{Key: d.samples[i].Key, Split: d.samples[i].Split, Label: formats.NoLabel}, nil
}

func cutJPEG(t testing.TB) formats.Value {
	t.Helper()
	v := photos(t, 1).samples[0].Values[0]
	v.Data = v.Data[:len(v.Data)/8]
	return v
}

// crop makes a Loader that need not look at a sample.
var crop = []augment.Op{augment.CenterCrop{H: 4, W: 4}}

func TestParseOnError(t *testing.T) {
	for _, s := range []string{"fail", "skip", "substitute"} {
		if o, err := ParseOnError(s); err != nil || string(o) != s {
			t.Errorf("%s: %v, %v", s, o, err)
		}
	}
	if _, err := ParseOnError("ignore"); err == nil || !strings.Contains(err.Error(), "substitute") {
		t.Errorf("error %v", err)
	}
	if _, err := New(rawImages(1, 2, 2, 3), Config{BatchSize: 1, OnError: "ignore"}); err == nil {
		t.Error("an unknown OnError is taken")
	}
}

// TestFailIsTheFirstByPosition, however the workers get on.
func TestFailIsTheFirstByPosition(t *testing.T) {
	ds, names := damaged(t, 30, 13, 12, 14, 27)
	for _, workers := range []int{1, 2, 7} {
		l := makeLoader(t, unsized{ds}, Config{BatchSize: 5, Workers: workers, Fields: names, OnError: Fail})
		n, err := drain(l)
		if n != 2 || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), ds.samples[12].Key) {
			t.Errorf("%d workers: %d batches, error %v", workers, n, err)
		}
		if times, bad := l.Bad(); times != 0 || bad != nil {
			t.Errorf("%d were bad: %v", times, bad)
		}
	}
}

// without gives batches of n of what is left of all but the bad ones of each batch.
func without(all []int, size int, bad []int) (left [][]int) {
	for chunk := range slices.Chunk(all, size) {
		left = append(left, slices.DeleteFunc(slices.Clone(chunk), func(i int) bool { return slices.Contains(bad, i) }))
	}
	return left
}

func TestSkipLeavesTheRestAsItIs(t *testing.T) {
	bad := []int{2, 3, 10, 14, 22, 16} // the first, last and middle ones of batches, and two of one
	sound, names, want := furnished(t, 23)
	ds, _ := damaged(t, 23, bad...)
	for _, workers := range []int{1, 2, 7} {
		c := Config{BatchSize: 5, Workers: workers, Seed: 8, Shuffle: true, Fields: names, OnError: Skip}
		order := indices(collect(t, makeLoader(t, sound, c), 1))
		l := makeLoader(t, unsized{ds}, c)
		left := without(order, 5, bad)
		for k, b := range collect(t, l, 1) {
			if !slices.Equal(b.Indices, left[k]) {
				t.Fatalf("batch %d has %v, want %v", k, b.Indices, left[k])
			}
			if b.N != len(left[k]) || b.Shape != [4]int{b.N, 4, 4, 3} || len(Pixels[uint8](b)) != b.N*48 || len(Labels[int64](b)) != b.N || b.Substituted != 0 {
				t.Fatalf("batch %d: N %d, shape %v, %d pixels, %d labels", k, b.N, b.Shape, len(Pixels[uint8](b)), len(Labels[int64](b)))
			}
			if missing := len(order[k*5:min(k*5+5, 23)]) - b.N; b.Skipped != missing {
				t.Fatalf("batch %d: skipped %d, %d are missing", k, b.Skipped, missing)
			}
			for i, index := range b.Indices {
				if !bytes.Equal(Pixels[uint8](b)[i*48:][:48], sound.samples[index].Values[0].Data) || Labels[int64](b)[i] != int64(index%10) {
					t.Fatalf("batch %d: sample %d has the pixels or the label of another", k, index)
				}
			}
			checkFields(t, b, want)
		}
		checkBad(t, l, ds, 6, bad)
	}
}

// checkBad compares what a Loader remembers of bad samples.
func checkBad(t *testing.T, l *Loader, ds *memory, times int64, bad []int) {
	t.Helper()
	n, samples := l.Bad()
	var got []int
	for _, s := range samples {
		got = append(got, s.Index)
		if !strings.Contains(s.Err.Error(), ds.samples[s.Index].Key) {
			t.Errorf("the error of sample %d lacks its key: %v", s.Index, s.Err)
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(bad))
	if !slices.Equal(got, want) || n != times {
		t.Errorf("%v were bad, %d times; want %v, %d times", got, n, want, times)
	}
}

func TestBadCountsTimesAndSamples(t *testing.T) {
	ds, _ := damaged(t, 12, 1, 2, 3)
	l := makeLoader(t, unsized{ds}, Config{BatchSize: 6, OnError: Skip})
	for epoch := range 3 {
		collect(t, l, epoch)
	}
	checkBad(t, l, ds, 9, []int{1, 2, 3})
}

func TestABatchOfBadSamplesFails(t *testing.T) {
	ds, _ := damaged(t, 12, 4, 5, 6, 7)
	l := makeLoader(t, unsized{ds}, Config{BatchSize: 4, Workers: 3, OnError: Skip})
	n, err := drain(l)
	if n != 1 || err == nil || !strings.Contains(err.Error(), ds.samples[4].Key) || !strings.Contains(err.Error(), "all 4 samples") {
		t.Errorf("%d batches, error %v", n, err)
	}
}

// TestNoMemoryEndsTheEpoch: what is no fault of a sample is not skipped, nor is another put there.
func TestNoMemoryEndsTheEpoch(t *testing.T) {
	for _, on := range []OnError{Fail, Skip, Substitute} {
		ds, _ := damaged(t, 12, 4)
		ds.broken[7] = pixel.ErrMemory
		l := makeLoader(t, unsized{ds}, Config{BatchSize: 4, Workers: 3, OnError: on, Transforms: crop})
		_, err := drain(l)
		if on != Fail && !errors.Is(err, pixel.ErrMemory) || err == nil {
			t.Errorf("%s: %v", on, err)
		}
		if _, bad := l.Bad(); len(bad) > 1 {
			t.Errorf("%s: %v", on, bad)
		}
	}
}

// TestSubstitutesAreTheSameForAnyWorkers also of several ranks, with all that batches have.
func TestSubstitutesAreTheSameForAnyWorkers(t *testing.T) {
	bad := []int{2, 3, 10, 14, 22, 16}
	sound, names, want := furnished(t, 23)
	ds, _ := damaged(t, 23, bad...)
	c := Config{BatchSize: 5, Seed: 8, Shuffle: true, Fields: names, OnError: Substitute}
	order := indices(collect(t, makeLoader(t, sound, c), 1))
	var first []*Batch
	for _, c.Workers = range []int{1, 2, 7} {
		l := makeLoader(t, unsized{ds}, c)
		got := collect(t, l, 1)
		if first == nil {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Fatalf("%d workers: the epoch differs from one worker's", c.Workers)
		}
		for k, b := range got {
			substituted := 0
			for i, index := range b.Indices {
				if was := order[k*5+i]; slices.Contains(bad, was) {
					substituted++
				} else if index != was {
					t.Fatalf("sample %d is in the place of %d, which is sound", index, was)
				}
				if slices.Contains(bad, index) || !bytes.Equal(Pixels[uint8](b)[i*48:][:48], sound.samples[index].Values[0].Data) {
					t.Fatalf("the pixels of entry %d are not those of sample %d", i, index)
				}
			}
			if b.N != min(5, 23-5*k) || b.Substituted != substituted || b.Skipped != 0 {
				t.Fatalf("batch %d: N %d, %d substituted, want %d", k, b.N, b.Substituted, substituted)
			}
			checkFields(t, b, want)
		}
		if _, samples := l.Bad(); len(samples) != len(bad) {
			t.Errorf("%d bad samples are known, want %d", len(samples), len(bad))
		}
	}
}

func TestBadSamplesAndPadding(t *testing.T) {
	ds, _ := damaged(t, 5, 0) // what the padding repeats
	c := Config{BatchSize: 2, WorldSize: 3, Rank: 2, OnError: Skip}
	b := collect(t, makeLoader(t, unsized{ds}, c), 0)[0]
	if !slices.Equal(b.Indices, []int{4}) || b.Skipped != 1 {
		t.Errorf("skip: indices %v, %d skipped", b.Indices, b.Skipped)
	}
	c.OnError = Substitute
	b = collect(t, makeLoader(t, unsized{ds}, c), 0)[0]
	if !slices.Equal(b.Indices, []int{4, -1}) || b.Substituted != 1 || b.Label(1) != formats.NoLabel {
		t.Errorf("substitute: indices %v, %d substituted", b.Indices, b.Substituted)
	}
}

// TestAllBadEndsInAnError, not in a hang.
func TestAllBadEndsInAnError(t *testing.T) {
	ds := rawImages(40, 4, 4, 3)
	ds.broken = map[int]error{}
	for i := range ds.samples {
		ds.broken[i] = errDisk
	}
	for _, o := range []OnError{Fail, Skip, Substitute} {
		for _, workers := range []int{1, 5} {
			l := makeLoader(t, ds, Config{BatchSize: 4, Workers: workers, Transforms: crop, OnError: o})
			if n, err := drain(l); n != 0 || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), ds.samples[0].Key) {
				t.Errorf("%s, %d workers: %d batches, error %v", o, workers, n, err)
			}
		}
		if l, err := New(unsized{ds}, Config{BatchSize: 4, OnError: o}); !errors.Is(err, errDisk) {
			t.Errorf("%s: New without a first sample gives %v, %v", o, l, err)
		}
	}
}

// TestABadFirstSample does not keep New from finding shapes where bad samples are put up with.
func TestABadFirstSample(t *testing.T) {
	ds := rawImages(6, 4, 4, 3)
	ds.samples[0].Values[0] = cutJPEG(t)
	ds.addField(formats.Field{Name: "mask", Kind: formats.Mask}, func(i int) formats.Value {
		if i < 2 { // of the second only the mask is bad
			return formats.Value{Data: []byte("no image"), Encoding: formats.PNG}
		}
		return raw(formats.Uint8, noise(16, i), 4, 4, 1)
	})
	for _, fields := range [][]string{nil, {"mask"}} {
		c := Config{BatchSize: 6, Fields: fields}
		if _, err := New(unsized{ds}, c); err == nil || !strings.Contains(err.Error(), ds.samples[0].Key) {
			t.Errorf("fail: error %v", err)
		}
		c.OnError = Skip
		want := []int{1, 2, 3, 4, 5}[len(fields):]
		if b := collect(t, makeLoader(t, unsized{ds}, c), 0)[0]; !slices.Equal(b.Indices, want) {
			t.Errorf("skip, fields %v: %v, want %v", fields, b.Indices, want)
		}
		c.OnError = Substitute
		if b := collect(t, makeLoader(t, unsized{ds}, c), 0)[0]; b.N != 6 || b.Substituted != 6-len(want) {
			t.Errorf("substitute, fields %v: %v", fields, b.Indices)
		}
	}
}

// TestBadSamplesAreNotMixed: what is left is mixed as a batch of its own would be, and each
// bad sample counts once, also where it is the one that the first is mixed with.
func TestBadSamplesAreNotMixed(t *testing.T) {
	for _, bad := range [][]int{{0}, {3}, {6}, {5, 6}, {0, 6}} {
		ds := noisy(7, imageSide, imageSide+3)
		ds.broken = map[int]error{}
		left := noisy(7, imageSide, imageSide+3)
		for _, i := range slices.Backward(bad) {
			ds.broken[i] = errDisk
			left.samples = slices.Delete(left.samples, i, i+1)
		}
		c := Config{BatchSize: 7, Workers: 3, DType: formats.Float32, OnError: Skip, Transforms: []augment.Op{augment.MixUp{Alpha: 1}}}
		l := makeLoader(t, ds, c)
		got, want := collect(t, l, 0)[0], collect(t, makeLoader(t, left, c), 0)[0]
		if !slices.Equal(Pixels[float32](got), Pixels[float32](want)) || !slices.Equal(got.Soft, want.Soft) || got.Skipped != len(bad) {
			t.Errorf("%v bad: %d skipped, soft labels %v, want %v", bad, got.Skipped, got.Soft, want.Soft)
		}
		checkBad(t, l, ds, int64(len(bad)), bad)

		c.OnError = Substitute
		l = makeLoader(t, ds, c)
		b := collect(t, l, 0)[0]
		if b.N != 7 || b.Substituted != len(bad) {
			t.Errorf("%v bad: %d samples, %d substituted", bad, b.N, b.Substituted)
		}
		c.Transforms = nil
		apart := collect(t, makeLoader(t, ds, c), 0)[0]
		share := float64(mixture(&c, 0, 0, []augment.Mixer{augment.MixUp{Alpha: 1}}).Share)
		if !slices.Equal(apart.Indices, b.Indices) {
			t.Errorf("%v bad: mixed batches have the substitutes %v, others %v", bad, b.Indices, apart.Indices)
		}
		size := len(Pixels[float32](b)) / 7
		for i, x := range Pixels[float32](b) {
			other := Pixels[float32](apart)[(i+6*size)%(7*size)]
			if y := float32(share)*Pixels[float32](apart)[i] + float32(1-share)*other; x-y > 1e-6 || y-x > 1e-6 {
				t.Fatalf("%v bad: element %d is %v, want %v", bad, i, x, y)
			}
		}
	}
}

// TestKindsOfDamage: each is an error that names the key, for each way to handle bad samples.
func TestKindsOfDamage(t *testing.T) {
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]formats.Value{
		"nothing":         {Encoding: formats.JPEG},
		"a cut JPEG":      cutJPEG(t),
		"not an image":    {Data: []byte("<html>"), Encoding: formats.PNG},
		"a short raw one": raw(formats.Uint8, make([]byte, 40), 4, 4, 3),
		"another size":    {Data: small.Bytes(), Encoding: formats.PNG},
		"no shape":        raw(formats.Uint8, make([]byte, 48)),
		"a negative one":  raw(formats.Uint8, make([]byte, 48), -4, -4, 3),
	} {
		ds := rawImages(6, 4, 4, 3)
		ds.samples[4].Values[0] = v
		l := makeLoader(t, unsized{ds}, Config{BatchSize: 2})
		if n, err := drain(l); n != 2 || err == nil || !strings.Contains(err.Error(), ds.samples[4].Key) {
			t.Errorf("%s: %d batches, error %v", name, n, err)
		}
		l = makeLoader(t, unsized{ds}, Config{BatchSize: 2, OnError: Skip})
		if got := fmt.Sprint(indices(collect(t, l, 0))); got != "[0 1 2 3 5]" {
			t.Errorf("%s: %s are left", name, got)
		}
	}
}

// TestNoteBad: what a caller could not use counts among the bad samples, each once by its index.
func TestNoteBad(t *testing.T) {
	l := makeLoader(t, rawImages(5, 2, 2, 3), Config{BatchSize: 5})
	for range 2 {
		if err := l.ReportBad(3, errors.New("no use")); err != nil {
			t.Fatal(err)
		}
	}
	times, bad := l.Bad()
	if times != 2 || len(bad) != 1 || bad[0].Index != 3 || bad[0].Err.Error() != "no use" {
		t.Errorf("%d times, %v", times, bad)
	}
	if l.ReportBad(5, nil) == nil || l.ReportBad(-1, nil) == nil {
		t.Error("a sample that is not there is noted")
	}
}
