package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// unreadable is a dataset of which one sample gives an error.
type unreadable struct {
	*memory
	at  int
	err error
}

func (u unreadable) Read(i int, s *formats.Sample) error {
	if i == u.at {
		return fmt.Errorf("read k%05d.jpg: %w", i, u.err)
	}
	return u.memory.Read(i, s)
}

// What cannot be read ends the run, whatever Options.OnError and MaxSkipped say; the dataset that is there stays, and the
// repeated run writes the bytes of an undisturbed one.
func TestUnreadableEndsTheRun(t *testing.T) {
	src := newMemory(t, 200, 50)
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.EPERM, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE} {
		dir, whole := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "x.tar")
		o := Options{Checkpoint: 20 << 10, MaxSkipped: "100%"}
		plain := Options{Checkpoint: o.Checkpoint, MaxSkipped: o.MaxSkipped}
		if _, err := Run(t.Context(), src, shard.Format{}, filepath.Join(whole, "x.tar"), plain); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), newMemory(t, 5, 0), shard.Format{}, path, Options{}); err != nil {
			t.Fatal(err)
		}
		o.Create.Replace = true
		r, err := Run(t.Context(), unreadable{src, 150, errno}, shard.Format{}, path, o)
		if !errors.Is(err, errno) || r.Failure == nil || r.Failure.Path != "k00150.jpg" || r.Resumable == 0 {
			t.Fatalf("%v: %v: %+v", errno, err, r)
		}
		if ds, err := (shard.Format{}).Open(path); err != nil || ds.Len() != 5 {
			t.Fatalf("%v: the dataset that was there: %v", errno, err)
		} else if err := ds.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = Run(t.Context(), src, shard.Format{}, path, o); err != nil || r.Resumed == 0 || r.Written != 196 {
			t.Fatalf("%v: again: %v: %+v", errno, err, r)
		}
		formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, whole))
	}
}

// More bad images than allowed end the run before anything is published, and so does a source that has nothing else.
func TestTooManyBadImages(t *testing.T) {
	for _, k := range []struct {
		n, broken int
		limit     string
		ok        bool
	}{
		{100, 10, "", true},
		{110, 10, "", false},
		{110, 10, "10%", true},
		{110, 10, "9%", false},
		{110, 10, "11", true},
		{110, 10, "0", false},
		{3, 1, "", false},
		{3, 1, "100%", false},
		{1, 1, "1", false},
	} {
		dir := t.TempDir()
		r, err := Run(t.Context(), newMemory(t, k.n, k.broken), tfrecord.Format{}, filepath.Join(dir, "x.tfrecord"), Options{MaxSkipped: k.limit})
		if (err == nil) != k.ok || r.Found != r.Written+len(r.Skipped)+r.NotReached || err != nil && !strings.Contains(err.Error(), "image file is truncated") {
			t.Errorf("%+v: %v", k, err)
		}
		if left, _ := os.ReadDir(dir); !k.ok && (len(left) != 1 || left[0].Name() != "x.tfrecord.partial") {
			t.Errorf("%+v: left %v", k, left)
		}
	}
	if _, err := New(t.Context(), newMemory(t, 1, 0), tfrecord.Format{}, "x.tfrecord", Options{MaxSkipped: "some"}); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
}

// hanging is a dataset of which one sample is never read until it is released.
type hanging struct {
	*memory
	reached atomic.Bool
	release chan struct{}
}

func (h *hanging) Read(i int, s *formats.Sample) error {
	if i == 50 {
		h.reached.Store(true)
		<-h.release
	}
	return h.memory.Read(i, s)
}

// A run whose source hangs ends with its context.
func TestHangingSource(t *testing.T) {
	h := &hanging{memory: newMemory(t, 100, 0), release: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	done := make(chan error)
	go func() {
		_, err := Run(ctx, h, tfrecord.Format{}, path, Options{Recipe: resized, Workers: 2, IOWorkers: 2, Progress: func(Progress) {
			if h.reached.Load() {
				cancel()
			}
		}})
		done <- err
	}()
	for !h.reached.Load() {
		select {
		case err := <-done:
			t.Fatal(err)
		default:
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(h.release)
	if _, err := Run(t.Context(), h, tfrecord.Format{}, path, Options{Recipe: resized}); err != nil {
		t.Error(err)
	}
}
