package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
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

func TestDiagnose(t *testing.T) {
	decoding := Stages{Read: 50, Decode: 1500, Augment: 300, Collate: 150, Step: 300}
	reading := Stages{Read: 900, Decode: 50, Augment: 25, Collate: 25}
	augmenting := Stages{Augment: 5, Collate: 1}
	large, little, mixed := ofSides(300, 900, 900), ofSides(32, 32, 32), ofSides(40, 900, 900)
	without := func(m *images, memory, free int64) *images {
		c := *m
		c.memory, c.free = memory, free
		return &c
	}
	for _, c := range []struct {
		name    string
		d       Dataset
		m       *images
		o       Options
		want    string
		without string
	}{
		{
			"loader alone",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 1, Disk: 900_000},
			large,
			Options{},
			"decode takes 75 % of the workers' time: try packing with --resize shorter:256 --encode jpeg:90 (about 0.30 MB of images, 0.90 MB on disk now), " +
				"or with --resize cover:256x256 --encode raw (about 0.59 MB of images, 0.90 MB on disk now)",
			"starved",
		},
		{
			"starving",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.58},
			large,
			Options{Consume: 3000},
			"; the consumer starved 58 % of the epoch: try", "--workers",
		},
		{
			"fed",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02},
			large,
			Options{Consume: 300},
			"starved only 2 % of the epoch: its own step takes the time, and faster data would not help", "try",
		},
		{
			"trainer on the workers' cores",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02},
			large,
			Options{Train: "cnn"},
			"starved only 2 % of the epoch, but shares the cores with the workers, who take 87 % of the time of both, most of it for decode: try", "would not help",
		},
		{
			"trainer on a device",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02, BusyCores: 1},
			large,
			Options{Train: "cnn", Backend: "xla:p.so"},
			"would not help", "shares",
		},
		{
			"resized already",
			Dataset{Encoding: "jpeg", Resize: "shorter:256", Stages: decoding},
			ofSides(256, 256),
			Options{},
			"decode takes 75 % of the workers' time: try packing with --encode raw (", "resize",
		},
		{
			"small images",
			Dataset{Encoding: "png", Shorter: 32, Stages: decoding, Disk: 7000},
			little,
			Options{},
			": try packing with --encode raw (about 0.01 MB of images, 0.01 MB on disk now)", "resize",
		},
		{
			"some small images",
			Dataset{Encoding: "jpeg", Stages: decoding},
			mixed,
			Options{},
			"with --resize shorter:256 --encode jpeg:90 (about 0.30 MB of images, 0.00 MB on disk now), or with --resize shorter:256 --encode raw (", "cover",
		},
		{
			"few large images",
			Dataset{Encoding: "jpeg", Stages: decoding},
			ofSides(40, 50, 900),
			Options{},
			": try packing with --encode raw (", "resize",
		},
		{
			"more than the memory holds",
			Dataset{Encoding: "jpeg", Stages: decoding},
			without(large, 400_000, 1<<40),
			Options{},
			"--encode jpeg:90", "raw",
		},
		{
			"more than the disk holds",
			Dataset{Encoding: "png", Stages: decoding},
			without(little, 1<<40, 9000),
			Options{},
			"decode takes 75 % of the workers' time", "try",
		},
		{
			"raw pixels", Dataset{Encoding: "raw", Stages: decoding}, large, Options{}, "decode takes", "try",
		},
		{
			"compressed pixels", Dataset{Encoding: "raw+zstd", Stages: decoding}, little, Options{}, "--encode raw, without --compress (", "resize",
		},
		{
			"nothing known of the images", Dataset{Encoding: "jpeg", Stages: decoding}, nil, Options{}, "decode takes", "try",
		},
		{
			"folder on a slow disk",
			Dataset{Format: "folder", Stages: reading, BusyCores: 0.4},
			large,
			Options{},
			"read takes 90 % of the workers' time: 0.4 of 4 cores were busy, so try more --workers, which then wait at the same time; try packing it into another format", "--encode",
		},
		{
			"cores that are not used",
			Dataset{Format: "lmdb", Encoding: "raw", Stages: Stages{Collate: 2}},
			large,
			Options{Config: reader.Config{Workers: 2}},
			"collate takes 100 % of the workers' time: try more --workers, there are 4 cores", "--encode",
		},
		{
			"large pixels",
			Dataset{Encoding: "raw", Stages: augmenting},
			large,
			Options{},
			"augment takes 83 % of the workers' time: try packing with --resize shorter:256 --encode raw (", "jpeg",
		},
		{
			"large photos",
			Dataset{Encoding: "jpeg", Stages: augmenting},
			large,
			Options{},
			"augment takes 83 % of the workers' time: try packing with --resize shorter:256 --encode jpeg:90 (", "raw",
		},
		{
			"small photos", Dataset{Encoding: "jpeg", Stages: augmenting}, little, Options{}, "augment takes", "try",
		},
	} {
		if c.o.Workers == 0 {
			c.o.Workers = 4
		}
		got := diagnose(&c.d, c.m, &c.o, 4)
		if !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
			t.Errorf("%s: %q, want %q in it and not %q", c.name, got, c.want, c.without)
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
	m := inspect(t.Context(), ds, 7, pixel.ColorRGB, formats.Uint16)
	var s formats.Sample
	if err := ds.Read(0, &s); err != nil {
		t.Fatal(err)
	}
	shape := s.Values[0].Shape
	if want := min(shape[0], shape[1]); len(m.shorter) != inspected || m.shorter[0] != want || !m.same || m.side != 8 || m.deep {
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
