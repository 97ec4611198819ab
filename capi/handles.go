//go:build cgo

package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// handles numbers things that C holds on to. Numbers are never used again.
type handles struct {
	mu    sync.Mutex
	last  int64
	open  map[int64]any
	ended bool
}

var things = handles{open: map[int64]any{}}

// add gives the thing a number, unless the process is ending.
func (h *handles) add(thing any) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return 0, fmt.Errorf("the process is ending: %w", errClosed)
	}
	h.last++
	h.open[h.last] = thing
	return h.last, nil
}

// end lets no more things be added, and gives the numbers of those that are there.
func (h *handles) end() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return slices.Collect(maps.Keys(h.open))
}

func (h *handles) remove(handle int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, handle)
}

// take removes the handle and gives what it stands for, which nobody else takes then.
func take[T any](handle int64) (thing T, ok bool) {
	things.mu.Lock()
	defer things.mu.Unlock()
	if thing, ok = things.open[handle].(T); ok {
		delete(things.open, handle)
	}
	return thing, ok
}

// of is what the handle stands for.
func of[T any](handle int64) (thing T, err error) {
	things.mu.Lock()
	defer things.mu.Unlock()
	thing, ok := things.open[handle].(T)
	if !ok {
		return thing, fmt.Errorf("handle %d of a %T: %w", handle, thing, errClosed)
	}
	return thing, nil
}
