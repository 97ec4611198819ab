//go:build cgo

// Command capi is dsconv as a C library, built with -buildmode=c-shared: what the Python package
// stands on.
//
// Rare calls go through dsconv_call, which takes a method's name and its arguments as JSON. What is
// called for every batch or image is a function of its own, which writes to the caller's memory. Go
// keeps no pointer to that memory after the call. The exception are the blocks that dsconv_start and
// dsconv_next lend to a run, until dsconv_next or dsconv_stop gives them back. Handles are integers,
// and never reused: a closed one is an error.
//
// All functions may be called from any thread, but each run only from one thread at a time. A process
// that was forked from one that has called the library must not call it: Go's threads are missing there.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

func init() {
	parallel.RaiseForC()
	if os.Getenv("GOGC") == "" {
		// There is little garbage: by default the heap grows to 4 MB before it is collected, in each
		// process of a training.
		debug.SetGCPercent(40)
	}
}

func main() {}

// dsconv_call calls a method. It returns {"result": ...} or {"error": {"kind": ..., "message": ...}},
// which dsconv_free frees.
//
//export dsconv_call
func dsconv_call(method, arguments *C.char) *C.char {
	return contained(func() (any, error) { return call(C.GoString(method), []byte(C.GoString(arguments))) })
}

// contained returns the reply of f, or the error of its panic. All exported functions recover from
// panics, so that none ends the caller's process.
func contained(f func() (any, error)) *C.char {
	var result any
	err := guard.Do(func() (err error) {
		result, err = f()
		return err
	})
	return reply(result, err)
}

// succeeded returns NULL, or the error of f or of its panic.
func succeeded(f func() error) *C.char {
	if err := guard.Do(f); err != nil {
		return reply(nil, err)
	}
	return nil
}

// counted returns the result of f, or -1 if f fails or panics.
func counted(f func() (int, error)) C.int64_t {
	n := -1
	err := guard.Do(func() (err error) {
		n, err = f()
		return err
	})
	if err != nil {
		return -1
	}
	return C.int64_t(n)
}

//export dsconv_free
func dsconv_free(text *C.char) { C.free(unsafe.Pointer(text)) }

// reply returns a result or an error as JSON in C's memory.
func reply(result any, err error) *C.char {
	r := struct {
		Result any      `json:"result,omitempty"`
		Error  *failure `json:"error,omitempty"`
	}{Result: result, Error: describe(err)}
	text, err := json.Marshal(r)
	if err != nil {
		r.Result, r.Error = nil, describe(err)
		text, _ = json.Marshal(r) // of two strings: it cannot fail
	}
	return C.CString(string(text))
}

// methods are the methods of dsconv_call by name.
var methods = map[string]func(arguments []byte) (any, error){
	"open":      method(openLoader),
	"close":     method(closeLoader),
	"clock":     ofLoader(clockOf),
	"estimate":  ofLoader(func(l *loader, _ struct{}) (any, error) { return l.Estimate(context.Background()) }),
	"bad":       ofLoader(badOf),
	"stats":     ofLoader(statsOf),
	"narrowed":  ofLoader(narrowedOf),
	"note":      ofLoader(noteBad),
	"keys":      ofLoader(keysOf),
	"sources":   ofLoader(sourcesOf),
	"columns":   ofLoader(columnsOf),
	"state":     ofLoader(stateOf),
	"check":     ofLoader(checkState),
	"transform": method(openTransform),
	"plan":      method(planOf),
	"forget":    method(forget),
	"end":       method(end),
	"cores":     method(func(struct{}) (any, error) { return parallel.Cores(), nil }),
}

// call calls a method by its name.
func call(name string, arguments []byte) (any, error) {
	m, ok := methods[name]
	if !ok {
		return nil, fmt.Errorf("%w: there is no method %q", errValue, name)
	}
	return m(arguments)
}

// method wraps f, whose arguments come as JSON. An unknown argument is an error.
func method[A any](f func(A) (any, error)) func([]byte) (any, error) {
	return func(arguments []byte) (any, error) {
		var a A
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return nil, unreadable(err)
		}
		return f(a)
	}
}

// unreadable is the error of arguments of the wrong type, told to callers who may not know Go.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := wrong.Field[strings.LastIndex(wrong.Field, ".")+1:]
		return fmt.Errorf("%w: %s is a %s and must be of type %s", errValue, name, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("%w: %w", errValue, err)
}

// ofLoader is method for a function of a loader.
func ofLoader[A any](f func(*loader, A) (any, error)) func([]byte) (any, error) {
	return method(func(a struct {
		Loader    int64 `json:"loader"`
		Arguments A     `json:"arguments"`
	},
	) (result any, err error) {
		err = withLoader(a.Loader, func(l *loader) error {
			result, err = f(l, a.Arguments)
			return err
		})
		return result, err
	})
}

// forget closes any handle except a loader's or a run's.
func forget(a struct {
	Handle int64 `json:"handle"`
},
) (any, error) {
	handles.remove(a.Handle)
	return nil, nil
}

// end ends all runs and closes all loaders before the process ends: no thread writes into the
// caller's memory any more, and the caches are removed. Nothing can be opened afterwards.
func end(struct{}) (any, error) {
	var errs []error
	for _, handle := range handles.end() {
		if l, err := lookup[*loader](handle); err == nil {
			errs = append(errs, l.end(handle))
		}
	}
	return nil, errors.Join(errs...)
}

// failure is an error as the caller's language sees it.
type failure struct {
	// Kind is "gpu" where no GPU can decode, "missing" for a file, "data" for damaged data, "value" for a wrong argument, "closed"
	// for a closed handle, "ends" for what ends a run and is no sample's fault, "" for all others.
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

var (
	errClosed = errors.New("it is closed")
	errValue  = errors.New("wrong argument")
)

func describe(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Message: err.Error()}
	if pixel.EndsRun(err) {
		f.Kind = "ends"
	}
	for _, k := range []struct {
		kind string
		of   error
	}{
		{"gpu", gpudecode.ErrUnavailable},
		{"missing", fs.ErrNotExist},
		{"closed", errClosed},
		{"data", formats.ErrDamaged},
		{"value", errValue},
		{"value", reader.ErrState},
		{"value", formats.ErrSchema},
		{"value", augment.ErrSize},
	} {
		if f.Kind == "" && errors.Is(err, k.of) {
			f.Kind = k.kind
		}
	}
	return f
}

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
