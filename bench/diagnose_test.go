package bench

import (
	"strings"
	"testing"
)

func TestDiagnose(t *testing.T) {
	decoding := Stages{Read: 50, Decode: 1500, Augment: 300, Collate: 150, Step: 300}
	reading := Stages{Read: 900, Decode: 50, Augment: 25, Collate: 25}
	for _, c := range []struct {
		name    string
		d       Dataset
		o       Options
		want    string
		without string
	}{
		{
			"loader alone",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 1},
			Options{},
			"decode takes 75 % of the workers' time: try packing with --resize shorter:256 --encode jpeg:90, or with --resize cover:256x256 --encode raw",
			"starved",
		},
		{
			"starving",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.58},
			Options{Consume: 3000},
			"; the consumer starved 58 % of the epoch: try", "--workers",
		},
		{
			"fed",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02},
			Options{Consume: 300},
			"starved only 2 % of the epoch: its own step takes the time, and faster data would not help", "try",
		},
		{
			"trainer on the workers' cores",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02},
			Options{Train: "cnn"},
			"starved only 2 % of the epoch, but shares the cores with the workers, who take 87 % of the time of both, most of it for decode: try", "would not help",
		},
		{
			"trainer on a device",
			Dataset{Encoding: "jpeg", Stages: decoding, Starved: 0.02, BusyCores: 1},
			Options{Train: "cnn", Backend: "xla:p.so"},
			"would not help", "shares",
		},
		{
			"resized already",
			Dataset{Encoding: "jpeg", Resize: "shorter:256", Stages: decoding},
			Options{},
			"decode takes 75 % of the workers' time: try packing with --resize cover:256x256 --encode raw", "shorter",
		},
		{
			"small images",
			Dataset{Encoding: "png", Shorter: 64, Stages: decoding},
			Options{},
			": try packing with --resize cover:256x256 --encode raw", "shorter",
		},
		{
			"compressed pixels", Dataset{Encoding: "raw+zstd", Stages: decoding}, Options{}, "without --compress", "--encode",
		},
		{
			"another size", Dataset{Encoding: "jpeg", Stages: decoding}, Options{Size: 112}, "shorter:128", "256",
		},
		{
			"folder on a slow disk",
			Dataset{Format: "folder", Stages: reading, BusyCores: 0.4},
			Options{},
			"read takes 90 % of the workers' time: 0.4 of 4 cores were busy, so try more --workers, which then wait at the same time; try packing it into another format", "--encode",
		},
		{
			"cores that are not used",
			Dataset{Format: "lmdb", Encoding: "raw", Stages: Stages{Collate: 2}},
			Options{Workers: 2},
			"collate takes 100 % of the workers' time: try more --workers, 4 cores are there", "--encode",
		},
		{
			"large pixels",
			Dataset{Encoding: "raw", Shorter: 1000, Stages: Stages{Augment: 5, Collate: 1}},
			Options{},
			"augment takes 83 % of the workers' time: try packing with --resize shorter:256", "raw",
		},
	} {
		if c.o.Workers == 0 {
			c.o.Workers = 4
		}
		if c.o.Size == 0 {
			c.o.Size = 224
		}
		got := diagnose(&c.d, &c.o, 4)
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
