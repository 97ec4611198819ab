//go:build cgo

package main

import (
	"errors"
	"io/fs"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

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
		of   []error
	}{
		{"gpu", []error{gpudecode.ErrUnavailable}},
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
