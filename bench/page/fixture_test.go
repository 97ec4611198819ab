package page

import (
	"math"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/reader"
)

// full is a report in which every part is filled in. Its figures are made up.
func full() *bench.Report {
	r := &bench.Report{
		Machine: bench.Machine{
			Cores: 8, GOMAXPROCS: 4, Memory: 64e9, Go: "go1.26", OS: "linux", Arch: "amd64", Python: "3.13.1", Torch: "2.13.0",
			Device: "GPU of 24 GB",
		},
		Consumer: "train.py:loader, step of the script", Notes: []string{"stage times include waiting for a core: there are more workers, or other programs, than cores"},
		Datasets: []bench.Dataset{folderRow(), packedRow()},
		Advice:   advice(),
	}
	r.Options.Config = reader.Config{BatchSize: 64, Workers: 4}
	r.Options.Rounds, r.Options.AugmentText = 3, "rrc:224,flip,normalize"
	earlier := bench.Report{
		Source: "before.json", Consumer: "loader alone", Machine: bench.Machine{Cores: 2, GOMAXPROCS: 2},
		Datasets: []bench.Dataset{{
			Path: "photos/", Format: "folder", Samples: 48000, EpochSeconds: 61, ImagesPerSecond: 787, Ratio: 1, Starved: 1,
			Stages: bench.Stages{Read: 60, Decode: 1800, Augment: 300, Collate: 120}, Diagnosis: "decode takes 79 % of the workers' time",
		}},
	}
	r.Merge(&earlier)
	return r
}

func folderRow() bench.Dataset {
	accuracy, loss := 0.8431, 0.512
	return bench.Dataset{
		Path: "photos/", Format: "DataLoader", Encoding: "jpeg", Samples: 48000, Shorter: 500, EpochSeconds: 41.2, ImagesPerSecond: 1165, Ratio: 1,
		Starved: 0.61, CPU: 3100, BusyCores: 3.6, Stages: bench.Stages{Read: 90, Decode: 1500, Augment: 1150, Collate: 160, Step: 330},
		PeakMemory: 2_400_000_000, Mapped: 1_200_000, Disk: 5_230_000_000, Depth: 0.2, Memory: reader.Memory{Workers: 4e8, Batches: 3e8},
		Transfer: 1.4, Accuracy: &accuracy, Loss: &loss, Settings: map[string]any{"num_workers": 4, "pin_memory": true},
		Diagnosis: "decode holds the epoch back",
		Verdict: &verdict.Verdict{
			Cause: verdict.OfDecode, Part: "PIL.Image.convert", Gain: 0.42, Text: "Decoding holds the epoch back: without it an epoch would take 24 s instead of 41 s.",
			Evidence: []string{
				"the loop waited 61 % of the epoch for a batch", "the 4 workers were busy 98 % of the time, 52 % of it in decode",
				"reading took 90 µs an image, of which 12 µs were spent waiting for the disk",
			},
			Others: []verdict.Other{
				{Cause: verdict.OfPython, Part: "train.Cutout", Gain: 0.21},
				{Cause: verdict.OfAugment, Gain: 0.09},
				{Cause: verdict.OfStart, Gain: 0.05},
				{Cause: verdict.OfTransfer, Gain: 0.01},
			},
		},
		Costs: &verdict.Costs{
			Samples: 48000, Batch: 64, Workers: 4, Processes: true, Cores: 4, Loader: 810, Start: 2.1, Loop: true, Step: 330, StepCPU: 120, Transfer: 29,
			Epoch: 41.2, Starved: 0.61, SwapStall: 3, SwapIn: 2e6, OtherCPU: 0.3,
			Parts: []verdict.Part{
				{Name: "read", Kind: verdict.Read, Wall: 90, CPU: 60, Queue: 18, Calls: 48000},
				{Name: "PIL.Image.convert", Kind: verdict.Decode, Wall: 1500, CPU: 1390, Queue: 100, Calls: 48000},
				{Name: "RandomResizedCrop", Kind: verdict.Augment, Wall: 420, CPU: 390, Queue: 25, Calls: 48000, Native: "rrc:224"},
				{Name: "train.Cutout", Kind: verdict.Augment, Wall: 730, CPU: 690, Queue: 30, Calls: 48000, Python: true, Native: "erasing"},
				{Name: "collate", Kind: verdict.Collate, Wall: 160, CPU: 150, Queue: 5, Calls: 750},
			},
		},
		Timeline: timelineOf(4, 140), Rounds: roundsOf(41.2),
	}
}

func packedRow() bench.Dataset {
	return bench.Dataset{
		Path: "/data/experiments/2026/a/folder/with/a/long/name/out.lmdb", Format: "lmdb", Encoding: "jpeg-tiled", Split: "train", Samples: 48000,
		EpochSeconds: 25.6, ImagesPerSecond: 1875, Ratio: 1.61, Starved: 0.37, CPU: 1400, BusyCores: 3.1,
		Stages: bench.Stages{Read: 12, Decode: 620, Augment: 240, Collate: 110, Step: 330}, PeakMemory: 900e6, Mapped: 300e6, Disk: 5_290_000_000,
		Diagnosis: "the loop's own step takes the time", Rounds: roundsOf(25.6), Narrowed: 3, NarrowedHow: "16-bit grey became 8-bit (3 times)", Cached: 5e7,
		Verdict: &verdict.Verdict{Cause: verdict.Balanced, Text: "Nothing alone would save 5 % of the epoch.", Evidence: []string{"the loop waited 37 % of the epoch"}},
	}
}

func roundsOf(seconds float64) (list []bench.Round) {
	for i := range 3 {
		s := seconds * (1 + 0.02*float64(i-1))
		list = append(list, bench.Round{
			Images: 48000, Loaded: 48000, Epochs: 1, Seconds: s, WaitSeconds: 0.5 * s, CPUSeconds: 3 * s, Ratio: 1,
		})
	}
	return list
}

func timelineOf(workers, batches int) *bench.Timeline {
	t := &bench.Timeline{}
	now, load := 0.0, 0.21
	for i := range batches {
		ready := max(now, 2.1+load*float64(i)/float64(workers)*(1+0.15*math.Sin(float64(i)/5)))
		done := ready + 0.022
		t.Batches = append(t.Batches, bench.BatchTimes{Asked: now, Ready: ready, Done: done})
		t.Loads = append(t.Loads, bench.Load{Worker: i % workers, Begin: max(0.4, ready-load), End: ready - 0.004})
		now = done
	}
	t.Seconds = now
	return t
}

func advice() *verdict.Advice {
	best := verdict.Candidate{
		Command: "dsconv pack photos/ out.lmdb --encode jpeg-tiled", Lossless: true, Disk: 5_290_000_000, Extra: 0.011, PackSeconds: 63, Before: 41.2, After: 24.1,
		BreakEven: 3.7,
	}
	return &verdict.Advice{
		Text: "dsconv pack photos/ out.lmdb --encode jpeg-tiled (lossless): 41 s -> 24 s an epoch, +1 % disk.", Best: &best,
		Candidates: []verdict.Candidate{
			{Command: "DataLoader(num_workers=4, persistent_workers=True)", Setting: true, Before: 41.2, After: 39.1},
			best,
			{
				Command: "dsconv pack photos/ out.lmdb --resize shorter:256 --encode jpeg:90", Disk: 1_260_000_000, Extra: -0.76,
				PackSeconds: 120, Before: 41.2, After: 16.4, BreakEven: 4.8,
			},
			{Command: "dsconv pack photos/ out.h5 --resize cover:256x256 --encode raw", Disk: 9.4e9, Extra: 0.8, PackSeconds: 95, Before: 41.2, After: 15.9, BreakEven: 3.8},
		},
	}
}
