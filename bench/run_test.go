package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type openFunc = func(ctx context.Context, path string) (formats.Dataset, error)

// measure is Run with callbacks.
func measure(ctx context.Context, paths []string, o Options, open openFunc, progress func(Progress)) (*Report, error) {
	o.Open, o.Progress = open, progress
	return Run(ctx, paths, o)
}

func small() Options {
	return Options{Size: 8, Config: reader.Config{BatchSize: 4, Workers: 2, Seed: 3, Shuffle: true}}
}

func TestRoundsAreInterleaved(t *testing.T) {
	var l log
	paths, open := opener(t, newMemory("a", 16, &l), newMemory("b", 16, &l), newMemory("c", 16, &l))
	var turns []string
	r, err := measure(t.Context(), paths, small(), open, func(p Progress) {
		turns = append(turns, fmt.Sprintf("%s%d", p.Dataset, p.Round))
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	if want := slices.Repeat([]string{"a", "b", "c"}, 4); !slices.Equal(l.names[:12], want) { // the rest is for advice
		t.Errorf("datasets were read in the order %v, want %v", l.names, want)
	}
	for _, d := range r.Datasets {
		if len(d.Rounds) != 3 || d.Samples != 12 || d.Split != "train" || d.Disk != 1600 || d.PeakMemory <= 0 {
			t.Errorf("%s: %d rounds, %d samples of split %q, %d bytes, memory %d", d.Path, len(d.Rounds), d.Samples, d.Split, d.Disk, d.PeakMemory)
		}
		for _, round := range d.Rounds {
			if round.Images != 12 || round.Loaded != 12 || round.Bytes != 12*360 || round.Seconds <= 0 || round.WaitSeconds > round.Seconds {
				t.Errorf("%s: implausible round %+v", d.Path, round)
			}
		}
	}
	if first := r.Datasets[0]; first.Ratio != 1 || first.Rounds[2].Ratio != 1 {
		t.Errorf("ratio of the first dataset to itself: %g", first.Ratio)
	}
}

func TestEpochsAndLimit(t *testing.T) {
	paths, open := opener(t, newMemory("a", 16, &log{}))
	o := small()
	o.Rounds, o.Epochs, o.LimitBatches, o.Split = 1, 2, 1, "val"
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	round := r.Datasets[0].Rounds[0]
	if round.Epochs != 2 || round.Images != 8 || r.Datasets[0].Split != "val" || len(r.Notes) == 0 {
		t.Errorf("round %+v of split %q, notes %q", round, r.Datasets[0].Split, r.Notes)
	}
}

func TestConsumerLimitsTheRate(t *testing.T) {
	paths, open := opener(t, newMemory("a", 64, &log{}))
	o := small()
	o.Consume, o.Rounds = 400, 2
	r, err := measure(t.Context(), paths, o, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Datasets[0]
	// 48 images at 400/s take 0.12 s, or longer if a busy machine wakes a sleeper late.
	if d.ImagesPerSecond > 400 || d.EpochSeconds < 0.12 {
		t.Errorf("%g images/s in epochs of %g s at a rate of 400/s", d.ImagesPerSecond, d.EpochSeconds)
	}
	if d.Stages.Step < 2000 {
		t.Errorf("a step of %g us an image at 400/s, want 2500 but for being late", d.Stages.Step)
	}
}

func TestCancellation(t *testing.T) {
	for _, consume := range []float64{0, 1} { // in the loader, in a step that takes seconds
		paths, open := opener(t, newMemory("a", 64, &log{}), newMemory("b", 64, &log{}))
		ctx, cancel := context.WithCancel(t.Context())
		o := small()
		o.Consume, o.Rounds = consume, 1_000_000
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := measure(ctx, paths, o, open, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("consume %g: error %v, want context.Canceled", consume, err)
		}
	}
}

func TestErrors(t *testing.T) {
	broken := newMemory("broken", 16, &log{})
	broken.fail = formats.ErrDamaged
	for _, c := range []struct {
		name  string
		paths []string
		o     Options
		want  error
	}{
		{"no dataset", nil, Options{}, nil},
		{"missing", []string{"a", "missing"}, small(), formats.ErrNotDataset},
		{"damaged", []string{"a", "broken"}, small(), formats.ErrDamaged},
		{"split", []string{"a"}, Options{Size: 8, Config: reader.Config{Split: "nope"}}, nil},
		{"rounds", []string{"a"}, Options{Rounds: -1}, nil},
		{"uint8 is not normalised", []string{"a"}, Options{Config: reader.Config{Transforms: append(augment.Train(8), augment.ImageNet), DType: formats.Uint8}}, nil},
	} {
		var l log
		all := map[string]*memory{"a": newMemory("a", 16, &l), "broken": broken}
		open := func(_ context.Context, path string) (formats.Dataset, error) {
			if m := all[path]; m != nil {
				return m, nil
			}
			return nil, formats.ErrNotDataset
		}
		_, err := measure(t.Context(), c.paths, c.o, open, nil)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if len(l.names) > 0 && !all["a"].closed {
			t.Errorf("%s: the dataset that was opened is still open", c.name)
		}
	}
}

func TestFolderWithoutImages(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Run(t.Context(), []string{path}, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPacedStart(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1e6 + int64(ms)) }
	busy := 10 * time.Millisecond
	for _, c := range []struct {
		name            string
		due, end, ready time.Time
		want            time.Time
	}{
		{"the first batch", time.Time{}, time.Time{}, at(5), at(5)},
		{"woken late, the batch was there", at(1), at(3), at(3), at(1)},
		{"woken late, the batch was not there", at(1), at(3), at(4), at(4)},
		{"stalled", at(1), at(90), at(90), at(80)},
	} {
		p := paced{due: c.due, end: c.end}
		if got := p.start(c.ready, busy); !got.Equal(c.want) {
			t.Errorf("%s: starts at %v, want %v", c.name, got, c.want)
		}
	}
}
