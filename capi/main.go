//go:build cgo

// Command capi is dsconv as a C library, built with -buildmode=c-shared: what the Python package
// stands on.
//
// What is done rarely goes through dsconv_call, a method's name and its arguments as JSON. What
// is done for every batch or image has a function of its own, which takes the caller's memory:
// Go writes into it and keeps no pointer to it beyond the call, but for the blocks that
// dsconv_start and dsconv_next lend to a run until dsconv_next gives them back or dsconv_stop
// does. Handles are numbers; one that is closed is told from all others.
//
// All functions may be called from any thread; one run from one thread at a time. A process that
// was forked from one that has called the library must not call it: Go's threads are not there.
package main

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/json"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
)

func init() { parallel.RaiseForC() }

func main() {}

// dsconv_call calls a method. It gives {"result": ...} or {"error": {"kind": ..., "message": ...}},
// to be freed by dsconv_free.
//
//export dsconv_call
func dsconv_call(method, arguments *C.char) *C.char {
	return contained(func() (any, error) { return call(C.GoString(method), []byte(C.GoString(arguments))) })
}

// contained is the reply of f, or of its panic. All exported functions are contained, so that no
// panic ends the caller's process.
func contained(f func() (any, error)) *C.char {
	var result any
	err := guard.Do(func() (err error) {
		result, err = f()
		return err
	})
	return reply(result, err)
}

// succeeded is NULL, or the error of f or of its panic.
func succeeded(f func() error) *C.char {
	if err := guard.Do(f); err != nil {
		return reply(nil, err)
	}
	return nil
}

// counted is what f gives, or -1 if that fails or panics.
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

// reply is a result or an error as JSON in C's memory.
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
