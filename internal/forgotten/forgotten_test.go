package forgotten_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/forgotten"
)

type handle struct{ open *forgotten.Open }

//go:noinline // so that the handle is on no stack
func forget(what string, freed chan<- string) {
	h := &handle{}
	h.open = forgotten.Track(h, what, func() { freed <- what })
}

func TestForgottenIsFreedAndNamed(t *testing.T) {
	freed := make(chan string, 1)
	forget("dataset forgotten.lmdb", freed)
	for freeing := true; freeing; {
		runtime.GC()
		select {
		case <-freed:
			freeing = false
		default:
			runtime.Gosched()
		}
	}
	for named := false; !named; runtime.Gosched() { // after free, on the same goroutine
		for _, s := range forgotten.Closed() {
			named = named || strings.HasPrefix(s, "dataset forgotten.lmdb, opened at ") && strings.Contains(s, "forgotten_test.go:")
		}
	}
}

func TestClosedInTimeIsNotFreed(t *testing.T) {
	h := &handle{}
	h.open = forgotten.Track(h, "dataset kept.lmdb", func() { t.Error("freed although it was closed") })
	if list := strings.Join(forgotten.StillOpen(), "\n"); !strings.Contains(list, "dataset kept.lmdb, opened at ") {
		t.Errorf("open are %q", list)
	}
	h.open.Done()
	h.open.Done()
	if list := strings.Join(forgotten.StillOpen(), "\n"); strings.Contains(list, "kept.lmdb") {
		t.Errorf("still open are %q", list)
	}
	runtime.KeepAlive(h)
	h = nil
	runtime.GC()
	runtime.GC()
	(*forgotten.Open)(nil).Done() // of what never was opened
}
