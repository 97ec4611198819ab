//go:build cgo

package main

import (
	"fmt"
	"sync"
)

// handles numbers things that C holds on to. Numbers are never used again.
type handles struct {
	mu   sync.Mutex
	last int64
	open map[int64]any
}

var things = handles{open: map[int64]any{}}

func (h *handles) add(thing any) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.open[h.last] = thing
	return h.last
}

func (h *handles) remove(handle int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, handle)
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
