package nonsense_test

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Nonsense in any argument of an exported function or method that returns an error is refused with one, or does no harm:
// a panic is a sentence that begins with the package's name. What returns no error may panic as an index out of range does,
// on the caller's goroutine. Nothing hangs.
func TestNonsenseIsRefused(t *testing.T) {
	for _, f := range functions {
		t.Run(nameOf(f), func(t *testing.T) { misuse(t, reflect.ValueOf(f), 0) })
	}
	for _, typ := range types {
		for m := range typ.Methods() {
			name := methodName(typ.String(), m.Name)
			if harmless[name] {
				continue
			}
			receiver := 1 // a value may be nonsense itself; a pointer comes from a constructor
			if typ.Kind() != reflect.Pointer {
				receiver = 0
			}
			t.Run(name, func(t *testing.T) { misuse(t, m.Func, receiver) })
		}
	}
}

// misuse calls f with nonsense in one argument after the other, from the given one on, and the usual values in the rest.
func misuse(t *testing.T, f reflect.Value, from int) {
	t.Chdir(t.TempDir())
	w := newWorld(t)
	typ := f.Type()
	arguments := func() []reflect.Value {
		var list []reflect.Value
		for i := range typ.NumIn() {
			list = append(list, w.usual(typ.In(i)))
		}
		return list
	}
	call(t, f, arguments())
	for i := from; i < typ.NumIn(); i++ {
		for _, v := range w.nonsense(typ.In(i)) {
			list := arguments()
			list[i] = v
			call(t, f, list)
		}
	}
}

// hang is how long a call that never returns is waited for.
const hang = 2 * time.Minute

func call(t *testing.T, f reflect.Value, arguments []reflect.Value) {
	t.Helper()
	done := make(chan string, 1)
	go func() { done <- panicOf(f, arguments) }()
	select {
	case text := <-done:
		if text != "" {
			t.Errorf("called with %s: panic: %s", shown(arguments), text)
		}
	case <-time.After(hang):
		t.Fatalf("called with %s: it does not return", shown(arguments))
	}
}

// panicOf calls f, and what it returns, and tells of a panic that is not a sentence.
func panicOf(f reflect.Value, arguments []reflect.Value) (text string) {
	defer func() {
		if v := recover(); v != nil && !isSentence(v) && returnsError(f.Type()) {
			text = fmt.Sprintf("%v\n%s", v, ownFrames())
		}
	}()
	var results []reflect.Value
	if f.Type().IsVariadic() {
		results = f.CallSlice(arguments)
	} else {
		results = f.Call(arguments)
	}
	if last := len(results) - 1; last >= 0 && f.Type().Out(last) == errorType && !results[last].IsNil() {
		return "" // refused: there is nothing to finish
	}
	for _, r := range results {
		finish(r)
	}
	return ""
}

// finish goes through an iterator, and closes or stops what was opened.
func finish(r reflect.Value) {
	if r.Kind() == reflect.Func && !r.IsNil() && r.Type().NumIn() == 1 && r.Type().In(0).Kind() == reflect.Func && r.Type().NumOut() == 0 {
		goOn := reflect.MakeFunc(r.Type().In(0), func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(true)} })
		r.Call([]reflect.Value{goOn})
		return
	}
	if (r.Kind() == reflect.Interface || r.Kind() == reflect.Pointer) && r.IsNil() || !r.CanInterface() {
		return
	}
	switch r := r.Interface().(type) {
	case interface{ Stop() }:
		r.Stop()
	case interface{ Close() error }:
		_ = r.Close()
	}
}

func returnsError(t reflect.Type) bool {
	for r := range t.Outs() {
		if r == errorType || r.Kind() == reflect.Func && r.CanSeq2() && r.In(0).In(1) == errorType {
			return true
		}
	}
	return false
}

func isSentence(v any) bool {
	if _, ok := v.(runtime.Error); ok {
		return false
	}
	pkg, rest, ok := strings.Cut(fmt.Sprint(v), ": ")
	return ok && rest != "" && !strings.Contains(pkg, " ")
}

func shown(arguments []reflect.Value) string {
	var list []string
	for _, a := range arguments {
		text := fmt.Sprintf("%s(%+v)", a.Type(), a)
		list = append(list, text[:min(len(text), 300)])
	}
	return strings.Join(list, ", ")
}

// ownFrames returns where the panic came from.
func ownFrames() string {
	var frames []string
	for line := range strings.Lines(string(debug.Stack())) {
		if strings.Contains(line, ".go:") {
			frames = append(frames, line)
		}
	}
	return strings.Join(frames[min(3, len(frames)):], "")
}
