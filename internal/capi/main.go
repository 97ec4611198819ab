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
	"encoding/json"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
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
