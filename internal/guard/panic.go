package guard

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
)

// PanicError is a panic that Do has caught.
type PanicError struct {
	Value any
	Stack string // the innermost calls, on one line
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v (%s)", e.Value, e.Stack)
}

// Unwrap is the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Do calls f and returns its panic, or its fault on mapped memory, as an error. Goroutines that
// f starts are not covered.
func Do(f func() error) (err error) {
	before := debug.SetPanicOnFault(true) // the handler may be out of memory
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			err = caught(p)
		}
	}()
	return f()
}

// For is Do with name, of what f works on, in the error of a panic.
func For(name string, f func() error) error {
	err := Do(f)
	if panicked, ok := err.(*PanicError); ok { //nolint:errorlint // Do's error itself, not one in its chain
		return fmt.Errorf("%s: %w", name, panicked)
	}
	return err
}

// caught is the error of a recovered panic with that value.
func caught(value any) error {
	if fault, ok := value.(interface{ Addr() uintptr }); ok { // no other panic has an address
		if err := unreadableAt(fault.Addr()); err != nil {
			return err
		}
	}
	return &PanicError{Value: value, Stack: stack()}
}

// calls is the largest number of calls in a PanicError.
const calls = 8

// stack lists the calls that led to the panic, the innermost first.
func stack() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	var list []string
	for panicked := false; len(list) < calls; {
		f, more := frames.Next()
		name := path.Base(f.Function)
		switch {
		case name == "runtime.gopanic":
			panicked, list = true, nil
		case panicked && !strings.HasPrefix(name, "runtime."):
			list = append(list, fmt.Sprintf("%s %s:%d", name, path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(list, ", ")
}
