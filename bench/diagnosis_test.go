package bench

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// ofSides are images with these shorter sides, for batches of 224. Raw images take the bytes of
// their pixels, JPEGs a tenth of a megabyte.
func ofSides(sides ...int) *images {
	m := &images{side: 256, same: slices.Min(sides) == slices.Max(sides), free: 1 << 60, memory: 1 << 40}
	m.shorter = slices.Sorted(slices.Values(sides))
	m.sizeOf = func(r preprocess.Recipe) (sum int64, ok bool) {
		for _, side := range sides {
			if r.Resize.Mode != preprocess.ResizeNone {
				side = min(side, r.Resize.W)
			}
			if r.Encode.Encoding == formats.Raw {
				sum += int64(3 * side * side)
			} else {
				sum += 100_000
			}
		}
		return sum, true
	}
	return m
}

// diagnosed is the sentence about d in a report of its own, of 1,000 images an epoch and four cores.
func diagnosed(d Dataset, m *images, o Options) (string, *verdict.Verdict) {
	o.Workers = cmp.Or(o.Workers, 4)
	o.BatchSize = 64
	r := &Report{Machine: Machine{GOMAXPROCS: 4}, Options: o, Consumer: o.consumer()}
	d.Rounds = []Round{{Images: 1000, Epochs: 1, FirstSeconds: d.Stages.workers() * 64 / 4e6}}
	if d.EpochSeconds == 0 {
		d.EpochSeconds = d.Stages.workers() * 1000 / 4e6
	}
	if o.Consume > 0 {
		d.EpochSeconds = max(d.EpochSeconds, 1000/o.Consume)
	}
	d.Costs = r.costs(&d, aboutLoop{})
	r.diagnose(&d, m)
	return d.Diagnosis, d.Verdict
}

func TestDiagnose(t *testing.T) {
	decoding := Stages{Read: 50, Decode: 1500, Augment: 300, Collate: 150}
	reading := Stages{Read: 900, Decode: 50, Augment: 25, Collate: 25}
	augmenting := Stages{Augment: 5, Collate: 1}
	large, little, mixed := ofSides(300, 900, 900), ofSides(32, 32, 32), ofSides(40, 900, 900)
	without := func(m *images, memory, free int64) *images {
		c := *m
		c.memory, c.free = memory, free
		return &c
	}
	changed := func(m *images, change func(m *images)) *images {
		c := *m
		change(&c)
		return &c
	}
	tiledAdvice := "try packing with --encode jpeg-tiled (about 0.30 MB of images, 0.90 MB on disk now): lossless; or, which changes pixels, with --resize"
	if !jpeg.HasLibjpegTurbo {
		tiledAdvice = "try packing with --resize"
	}
	for _, c := range []struct {
		name    string
		d       Dataset
		m       *images
		o       Options
		cause   verdict.Cause
		want    string
		without string
	}{
		{
			"loader alone",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 1, Disk: 900_000},
			large,
			Options{},
			verdict.OfDecode,
			"decode-bound: without decoding, an epoch would take 0.12 s instead of 0.50 s; " +
				"try packing with --resize shorter:256 --encode jpeg:90 (about 0.30 MB of images, 0.90 MB on disk now), " +
				"or with --resize cover:256x256 --encode raw (about 0.59 MB of images, 0.90 MB on disk now): this changes pixels",
			"--workers",
		},
		{
			"a part of each image",
			Dataset{Encoding: "jpeg", Stages: decoding, Disk: 900_000},
			changed(large, func(m *images) { m.crops = true }),
			Options{},
			verdict.OfDecode, tiledAdvice, "",
		},
		{
			"a part of each image, of which it is decoded alone",
			Dataset{Encoding: "jpeg", Stages: decoding},
			changed(large, func(m *images) { m.crops, m.tiled = true, true }),
			Options{},
			verdict.OfDecode, "try packing with --resize", "tiled",
		},
		{
			"starving", Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.58}, large, Options{Consume: 3000}, verdict.OfDecode, "; try packing", "--workers",
		},
		{
			"fed",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02},
			large,
			Options{Consume: 300},
			verdict.OfCompute,
			"compute-bound: the loop's own step takes the time, and it hardly waits for data", "try",
		},
		{
			"resized already",
			Dataset{Encoding: "jpeg", Resize: "shorter:256", Stages: decoding},
			ofSides(256, 256),
			Options{},
			verdict.OfDecode,
			"; try packing with --encode raw (about 0.39 MB of images, 0.00 MB on disk now): lossless", "resize",
		},
		{
			"small images",
			Dataset{Encoding: "png", Shorter: 32, Stages: decoding, Disk: 7000},
			little,
			Options{},
			verdict.OfDecode,
			"; try packing with --encode raw (about 0.01 MB of images, 0.01 MB on disk now): lossless", "resize",
		},
		{
			"some small images",
			Dataset{Encoding: "jpeg", Stages: decoding},
			mixed,
			Options{},
			verdict.OfDecode,
			"with --resize shorter:256 --encode jpeg:90 (about 0.30 MB of images, 0.00 MB on disk now), or with --resize shorter:256 --encode raw (", "cover",
		},
		{
			"few large images",
			Dataset{Encoding: "jpeg", Stages: decoding},
			ofSides(40, 50, 900),
			Options{},
			verdict.OfDecode,
			"; try packing with --encode raw (", "resize",
		},
		{
			"more than the memory holds",
			Dataset{Encoding: "jpeg", Stages: decoding},
			without(large, 400_000, 1<<40),
			Options{},
			verdict.OfDecode,
			"--encode jpeg:90", "raw",
		},
		{
			"more than the disk holds",
			Dataset{Encoding: "png", Stages: decoding},
			without(little, 1<<40, 9000),
			Options{},
			verdict.OfDecode,
			"decode-bound", "try",
		},
		{"raw pixels", Dataset{Encoding: "raw", Stages: decoding}, large, Options{}, verdict.OfDecode, "decode-bound", "try"},
		{
			"compressed pixels",
			Dataset{Encoding: "raw+zstd", Stages: decoding},
			little,
			Options{},
			verdict.OfDecode,
			"--encode raw, without --compress (about 0.01 MB of images, 0.00 MB on disk now): lossless", "resize",
		},
		{"nothing known of the images", Dataset{Encoding: "jpeg", Stages: decoding}, nil, Options{}, verdict.OfDecode, "decode-bound", "try"},
		{
			"folder on a slow disk",
			Dataset{Format: "folder", Stages: reading, BusyCores: 0.4},
			large,
			Options{},
			verdict.OfStorage,
			"storage-bound: without reading, an epoch would take 25.0 ms instead of 0.25 s; " +
				"0.4 of 4 cores were busy, so try more --workers, which then wait at the same time; try packing it into another format, unchanged", "--encode",
		},
		{
			"cores that are not used",
			Dataset{Format: "lmdb", Encoding: "raw", Stages: Stages{Collate: 2}},
			large,
			Options{Config: reader.Config{Workers: 2}},
			verdict.OfCollate, "; try more --workers, there are 4 cores", "--encode",
		},
		{
			"large pixels",
			Dataset{Encoding: "raw", Stages: augmenting},
			large,
			Options{},
			verdict.OfAugment,
			"; try packing with --resize shorter:256 --encode raw (", "jpeg",
		},
		{
			"large photos",
			Dataset{Encoding: "jpeg", Stages: augmenting},
			large,
			Options{},
			verdict.OfAugment,
			"; try packing with --resize shorter:256 --encode jpeg:90 (", "raw",
		},
		{"small photos", Dataset{Encoding: "jpeg", Stages: augmenting}, little, Options{}, verdict.OfAugment, "augment-bound", "try"},
	} {
		got, v := diagnosed(c.d, c.m, c.o)
		if v == nil || v.Cause != c.cause || !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
			t.Errorf("%s: %q, want %s with %q in it and not %q", c.name, got, c.cause, c.want, c.without)
		}
	}
}

func TestLackedCores(t *testing.T) {
	d := Dataset{CPU: 1700, Stages: Stages{Read: 60, Decode: 2500, Augment: 270, Collate: 270}}
	if !d.lackedCores() {
		t.Error("workers that computed 3,040 us an image with 1,700 us of CPU had all the cores they wanted")
	}
	if d.CPU = 3000; d.lackedCores() {
		t.Error("workers that had their cores lacked them")
	}
}

// The size of images is estimated from some of them, for the whole dataset whatever split is read.
func TestInspect(t *testing.T) {
	ds := newMemory("a", 100, &log{})
	m := inspect(t.Context(), ds, 7, &reader.Config{Color: pixel.ColorRGB, DType: formats.Uint16, Transforms: augment.Train(7)})
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil {
		t.Fatal(err)
	}
	shape := s.Values[0].Shape
	if want := min(shape[0], shape[1]); len(m.shorter) != inspected || m.shorter[0] != want || !m.same || m.side != 8 || m.deep || !m.crops || m.tiled {
		t.Errorf("%d images, shorter sides %v, one size: %v, wanted %d", len(m.shorter), m.shorter, m.same, want)
	}
	raw := preprocess.Recipe{Encode: codec.EncodeOptions{Encoding: formats.Raw}}
	if size, ok := m.sizeOf(raw); !ok || size != int64(100*3*shape[0]*shape[1]) {
		t.Errorf("raw pixels of 100 images of %v are %d bytes", shape, size)
	}
}

// A packing that would reduce batches of 16 bits per channel to 8 is not advised.
func TestAdviceKeepsDepth(t *testing.T) {
	deep := *ofSides(300, 900)
	deep.deep = true
	d := Dataset{Encoding: "png", Stages: Stages{Decode: 10, Collate: 1}, Disk: 900_000}
	said := repack(&d, &deep, "decode")
	if !strings.HasPrefix(said, "try packing with --resize cover:256x256 --encode raw --color keep (about") || strings.Contains(said, "jpeg") {
		t.Error(said)
	}
}
