package guard

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// PanicError is a panic that Do has caught.
type PanicError struct {
	Value any
	Stack string // the innermost calls, on one line
	// Foreign is set if a function of the program panicked, which called dsconv or which dsconv called,
	// such as a Dataset's Read.
	Foreign bool
	place   string // of the innermost call that is not a library's
}

func (e *PanicError) Error() string {
	if e.Foreign {
		return fmt.Sprintf("%s panicked: %v", e.place, e.Value)
	}
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
	frames := panicking()
	e := &PanicError{Value: value, Stack: joined(frames)}
	if k := slices.IndexFunc(frames, func(f runtime.Frame) bool { return !library(&f) }); k >= 0 {
		f := &frames[k]
		e.Foreign, e.place = foreign(f.Function), fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
	}
	return e
}

// calls is the largest number of calls in a PanicError.
const calls = 8

// panicking lists the calls that led to the panic, the innermost first.
func panicking() (list []runtime.Frame) {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked, list = true, nil
		case panicked && !strings.HasPrefix(f.Function, "runtime."):
			list = append(list, f)
		}
		if !more {
			return list
		}
	}
}

func joined(frames []runtime.Frame) string {
	var list []string
	for _, f := range frames[:min(calls, len(frames))] {
		list = append(list, fmt.Sprintf("%s %s:%d", path.Base(f.Function), path.Base(f.File), f.Line))
	}
	return strings.Join(list, ", ")
}

// module is dsconv's own path; modules begins those of what it uses.
const module = "github.com/dsconv/dsconv"

var modules = []string{
	"golang.org/x/", "gonum.org/", "github.com/klauspost/", "github.com/zeebo/", "github.com/bmatcuk/", "github.com/bmatsuo/", "github.com/disintegration/",
}

// library reports whether a call is in the standard library or another that dsconv uses. Its caller made
// the mistake.
func library(f *runtime.Frame) bool {
	if slices.ContainsFunc(modules, func(prefix string) bool { return strings.HasPrefix(f.Function, prefix) }) {
		return true
	}
	if src := goSource(); src != "" {
		return strings.HasPrefix(f.File, src)
	}
	first, _, deeper := strings.Cut(f.Function, "/") // of the standard library it has no domain
	return deeper && !strings.Contains(first, ".")
}

// goSource is the folder of the standard library's sources, "" if the build left out the paths.
var goSource = sync.OnceValue(func() string {
	f, _ := runtime.CallersFrames([]uintptr{reflect.ValueOf(strings.Cut).Pointer() + 1}).Next()
	return strings.TrimSuffix(f.File, "strings/strings.go")
})

// foreign reports whether a function is the program's, not dsconv's. Tests that use a package from outside
// are programs.
func foreign(function string) bool {
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	pkg := function[:slash] + name
	return pkg != module && !strings.HasPrefix(pkg, module+"/") || strings.HasSuffix(pkg, "_test")
}
