//go:build cgo

package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// handleTable maps the integer handles that C holds to Go objects. A handle is never reused.
type handleTable struct {
	mu    sync.Mutex
	last  int64
	open  map[int64]any
	ended bool
}

var handles = handleTable{open: map[int64]any{}}

// add returns a new handle for object, unless the process is ending.
func (h *handleTable) add(object any) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return 0, fmt.Errorf("the process is ending: %w", errClosed)
	}
	h.last++
	h.open[h.last] = object
	return h.last, nil
}

// end makes add fail from now on and returns the handles that are open.
func (h *handleTable) end() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return slices.Collect(maps.Keys(h.open))
}

func (h *handleTable) remove(handle int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, handle)
}

// take removes the handle and returns its object. Of several callers one gets it.
func take[T any](handle int64) (object T, ok bool) {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	if object, ok = handles.open[handle].(T); ok {
		delete(handles.open, handle)
	}
	return object, ok
}

// lookup returns the object behind handle.
func lookup[T any](handle int64) (object T, err error) {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	object, ok := handles.open[handle].(T)
	if !ok {
		return object, fmt.Errorf("handle %d of a %T: %w", handle, object, errClosed)
	}
	return object, nil
}
