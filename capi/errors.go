//go:build cgo

package main

import (
	"errors"
	"io/fs"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// failure is an error as other languages see it.
type failure struct {
	// Kind is what to make of it: "missing" file, "data" that is damaged, "value" of an
	// argument, "closed" handle, what "ends" a run whatever the sample, or "" for any other.
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
		of   []error
	}{
		{"missing", []error{fs.ErrNotExist}},
		{"closed", []error{errClosed}},
		{"data", []error{formats.ErrDamaged}},
		{"value", []error{errValue, reader.ErrState, formats.ErrSchema, augment.ErrSize}},
	} {
		for _, target := range k.of {
			if f.Kind == "" && errors.Is(err, target) {
				f.Kind = k.kind
			}
		}
	}
	return f
}
