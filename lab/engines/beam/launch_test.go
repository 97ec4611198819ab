package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPacksWhatIsMissing(t *testing.T) {
	job, plan := newStandIn(t, 6)
	write(t, plan, "shard-2", "")
	if err := job.launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !exists(plan, "commits") {
		t.Error("there was no commit")
	}
	for i := range 6 {
		if got, want := attempts(plan, i) == 1, i != 2; got != want {
			t.Errorf("shard %d was packed %d times", i, attempts(plan, i))
		}
	}
}

func TestNothingIsMissing(t *testing.T) {
	job, plan := newStandIn(t, 1)
	write(t, plan, "shard-0", "")
	job.runner = "no such runner" // and none is needed
	if err := job.launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !exists(plan, "commits") {
		t.Error("there was no commit")
	}
}

func TestFailuresAreRetried(t *testing.T) {
	job, plan := newStandIn(t, 3)
	write(t, plan, "fail-1", "2")
	if err := job.launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := attempts(plan, 1); n != 3 {
		t.Errorf("%d attempts instead of 3", n)
	}
}

func TestErrorSaysWhichShardAndWhy(t *testing.T) {
	job, plan := newStandIn(t, 3)
	write(t, plan, "fail-1", "100")
	err := job.launch(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"shard 1: ", "stand-in: attempt 3 fails", "run the same command again"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	if exists(plan, "commits") {
		t.Error("there was a commit")
	}
}

func TestNoDsconv(t *testing.T) {
	job, _ := newStandIn(t, 1)
	unit := job.unit
	unit.Dsconv = filepath.Join(t.TempDir(), "dsconv")
	unit.Retries = 1 << 30
	unit.Setup()
	if err := unit.ProcessElement(t.Context(), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// An interrupted launcher tells what it started to stop, and says that it was interrupted.
func TestInterrupted(t *testing.T) {
	job, plan := newStandIn(t, 2)
	write(t, plan, "hang-1", "")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	done := make(chan error)
	go func() { done <- job.launch(ctx) }()
	waitFor(t, t.Context(), plan, "started-1")
	interrupt()
	if err := <-done; !errors.Is(err, errInterrupted) {
		t.Errorf("got %v", err)
	}
	waitFor(t, t.Context(), plan, "stopped-1")
	if exists(plan, "commits") {
		t.Error("there was a commit")
	}
}

func TestEndOfOutput(t *testing.T) {
	var kept tail
	for range 1000 {
		if _, err := kept.Write([]byte("0123456789")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = kept.Write([]byte("the error\n"))
	if s := kept.String(); !strings.HasSuffix(s, "89the error") || len(s) > tailSize {
		t.Errorf("%d bytes end with %q", len(s), s[max(0, len(s)-20):])
	}
}
