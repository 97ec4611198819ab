package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// starved is a source that runs out of memory at one sample.
type starved struct{ *memory }

func (s starved) Read(i int, to *formats.Sample) error {
	if i == 20 {
		return fmt.Errorf("decode: %w", pixel.ErrMemory)
	}
	return s.memory.Read(i, to)
}

// TestNoMemoryEndsTheRun: a sample is not skipped because the machine has no memory.
func TestNoMemoryEndsTheRun(t *testing.T) {
	src := starved{newMemory(t, 100, 0)}
	r, err := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{}).Run(context.Background())
	if !errors.Is(err, pixel.ErrMemory) || len(r.Skipped) > 0 || r.Failure == nil || r.Failure.Path != "k00020.jpg" {
		t.Errorf("%v; %+v", err, r)
	}
}

// TestProcessingIsStopped: a run that is cancelled does not finish the image that it processes.
func TestProcessingIsStopped(t *testing.T) {
	src := newMemory(t, 1, 0)
	p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized})
	r, j := &run{Plan: p, schema: src.Meta().Schema, process: make(chan *job, 1)}, &job{done: make(chan struct{}, 1)}
	if err := src.Read(0, &j.in); err != nil {
		t.Fatal(err)
	}
	r.stop.Set()
	r.process <- j
	close(r.process)
	if err := r.processAll(t.Context()); err != nil || !errors.Is(j.err, context.Canceled) {
		t.Errorf("%v; the sample: %v", err, j.err)
	}
}

// TestDeferredSampleIsCountedOnce: the bytes reserved for a sample are released completely, also if
// one field was reserved before another one deferred the sample.
func TestDeferredSampleIsCountedOnce(t *testing.T) {
	src := newMemory(t, 1, 0)
	p := plan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized})
	r, j := &run{Plan: p, schema: src.Meta().Schema}, &job{deferred: true}
	r.budget.changed.L = &r.budget.mu
	if !r.budget.reserve(j, 1000) {
		t.Fatal("nothing is held for the first field")
	}
	if err := r.processDeferred(context.Background(), j); err != nil || j.err != nil {
		t.Fatal(err, j.err)
	}
	if j.reserved == 0 || r.budget.used != j.reserved {
		t.Errorf("%d bytes are held for the only sample, %d in all", j.reserved, r.budget.used)
	}
	r.budget.release(j)
	r.room.Release()
	r.deferredProc.Close()
	if r.budget.used != 0 {
		t.Errorf("%d bytes are held for nothing", r.budget.used)
	}
}
