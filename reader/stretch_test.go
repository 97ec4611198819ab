package reader

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// observed is what an observer saw of a run.
type observed struct {
	sync.Mutex
	stretches []Stretch
}

func (o *observed) see(s Stretch) {
	o.Lock()
	defer o.Unlock()
	o.stretches = append(o.stretches, s)
}

// observe runs epoch 0 of l to the end, and checks that its batches are want.
func observe(t *testing.T, l *Loader, want []*Batch, images func(k int, b *Batch) []byte) []Stretch {
	t.Helper()
	var o observed
	begin := time.Now()
	r, err := l.StartWith(t.Context(), RunOptions{Observe: o.see})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	for k := range want {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(images(k, b), want[k].ViewBytes(0)) {
			t.Errorf("batch %d differs", k)
		}
	}
	r.Stop()
	checkStretches(t, o.stretches, len(want), begin)
	return o.stretches
}

// checkStretches: each batch has a stretch, in the run's time, and those of a worker follow each other.
func checkStretches(t *testing.T, all []Stretch, batches int, begin time.Time) {
	t.Helper()
	last := map[int]time.Time{}
	seen := map[int]bool{}
	for _, s := range all {
		if s.Begin.Before(begin) || s.Begin.Before(last[s.Worker]) || s.End.Before(s.Begin) || s.End.After(time.Now()) {
			t.Errorf("%+v after %v: the times are wrong", s, last[s.Worker])
		}
		last[s.Worker] = s.End
		seen[s.Batch] = true
		if s.Batch < 0 || s.Batch >= batches {
			t.Errorf("%+v of %d batches", s, batches)
		}
	}
	if len(seen) != batches {
		t.Errorf("%d of %d batches were seen", len(seen), batches)
	}
}

func onHost(_ int, b *Batch) []byte { return b.ViewBytes(0) }

// TestObserve: a run that is observed gives the same batches, whichever way they are made.
func TestObserve(t *testing.T) {
	ds := photos(t, 23)
	for name, c := range map[string]Config{
		"workers":     {Workers: 3},
		"one worker":  {Workers: 1},
		"synchronous": {Synchronous: true},
		"mixup":       {Workers: 2, DType: formats.Float32, Transforms: parsed(t, "rrc:8,mixup:0.2")},
	} {
		t.Run(name, func(t *testing.T) {
			c.BatchSize, c.Shuffle = 4, true
			if c.Transforms == nil {
				c.Transforms = augment.Train(8)
			}
			want := collect(t, makeLoader(t, ds, c), 0)
			for _, s := range observe(t, makeLoader(t, ds, c), want, onHost) {
				if s.Worker < 0 || s.Worker >= max(c.Workers, 1) {
					t.Errorf("%+v of %d workers", s, c.Workers)
				}
			}
		})
	}
}

// TestObserveGPU: what decodes on the GPU is a worker of its own, and comes after the others.
func TestObserveGPU(t *testing.T) {
	ds := photos(t, 23)
	c := Config{BatchSize: 4, Workers: 2, Transforms: parsed(t, "rrc:16,flip")}
	want := collect(t, makeLoader(t, ds, c), 0)
	c.Decoder = DecodeOnGPU
	l := gpuLoader(t, ds, c, new(onCPU))
	all := observe(t, l, want, func(k int, b *Batch) []byte {
		return finished(t, l, b, 0, deviceBytes(b)[:len(want[k].ViewBytes(0))])
	})
	for k := range want {
		onGPU := slices.IndexFunc(all, func(s Stretch) bool { return s.Batch == k && s.Worker >= c.Workers })
		if onGPU < 0 {
			t.Errorf("batch %d was not seen on the GPU", k)
			continue
		}
		for _, s := range all {
			if s.Batch == k && s.Worker < c.Workers && s.Begin.After(all[onGPU].Begin) {
				t.Errorf("%+v began after the GPU, %+v", s, all[onGPU])
			}
		}
	}
}

// A worker that waits for the loop does nothing: its stretch ends before.
func TestObservePause(t *testing.T) {
	var o observed
	l := makeLoader(t, photos(t, 12), Config{BatchSize: 2, Workers: 1, Prefetch: 1, Transforms: augment.Train(8)})
	r, err := l.StartWith(t.Context(), RunOptions{Observe: o.see})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for count := 0; count < 2; { // both batches that have a slot are ready, and nothing asks for more
		o.Lock()
		count = len(o.stretches)
		o.Unlock()
		time.Sleep(time.Millisecond)
	}
	asked := time.Now()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	for _, s := range o.stretches {
		if s.Begin.Before(asked) && s.End.After(asked) {
			t.Errorf("%+v: the worker waited at %v", s, asked)
		}
	}
}
