//go:build cgo

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/internal/parallel"
)

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
