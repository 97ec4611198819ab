//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/internal/parallel"
)

// methods are those of dsconv_call.
var methods = map[string]func(arguments []byte) (any, error){
	"open":      method(openLoader),
	"close":     method(closeLoader),
	"clock":     ofLoader(clockOf),
	"estimate":  ofLoader(func(l *loader, _ struct{}) (any, error) { return l.Estimate() }),
	"bad":       ofLoader(badOf),
	"narrowed":  ofLoader(narrowedOf),
	"note":      ofLoader(noteBad),
	"keys":      ofLoader(keysOf),
	"keys_at":   ofLoader(keysAt),
	"sources":   ofLoader(sourcesOf),
	"columns":   ofLoader(columnsOf),
	"numbers":   ofLoader(numbersOf),
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

// method makes JSON the arguments of f. Unknown arguments are errors.
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

// unreadable is the error of arguments that are not those of a method, in words that need no Go.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := wrong.Field[strings.LastIndex(wrong.Field, ".")+1:]
		return fmt.Errorf("%w: %s: a %s where there must be a value of type %s", errValue, name, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("%w: %w", errValue, err)
}

// ofLoader is method for functions of a loader.
func ofLoader[A any](f func(*loader, A) (any, error)) func([]byte) (any, error) {
	return method(func(a struct {
		Loader    int64 `json:"loader"`
		Arguments A     `json:"arguments"`
	},
	) (any, error) {
		l, leave, err := enter(a.Loader)
		if err != nil {
			return nil, err
		}
		defer leave()
		return f(l, a.Arguments)
	})
}

// forget closes any handle but a loader's or a run's.
func forget(a struct {
	Handle int64 `json:"handle"`
},
) (any, error) {
	handles.remove(a.Handle)
	return nil, nil
}

// end closes all loaders, and ends their runs, before the process does: its threads then write
// into nobody's memory, and its caches are gone. Nothing can be opened afterwards.
func end(struct{}) (any, error) {
	var errs []error
	for _, handle := range handles.end() {
		if l, err := lookup[*loader](handle); err == nil {
			errs = append(errs, l.end(handle))
		}
	}
	return nil, errors.Join(errs...)
}
