package formats

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// contained calls do, which looks at what strangers wrote at path with format f. Its panic is an error: one file must
// not end a program that asks what the file is. Goroutines that do starts are not covered.
func contained(f Format, path string, do func() error) (err error) {
	before := debug.SetPanicOnFault(true) // of mapped files that were shortened
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: the format %s: internal error, please report it: panic: %v (%s)", path, f.Name(), p, panicked())
		}
	}()
	return do()
}

// openWith is open, contained.
func openWith(f Format, path string, open func() (Dataset, error)) (ds Dataset, err error) {
	err = contained(f, path, func() (err error) { ds, err = open(); return err })
	if err != nil {
		ds = nil
	}
	return ds, err
}

// panicked says in which line the panic was that is recovered from.
func panicked() string {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	for inside := false; ; {
		f, more := frames.Next()
		isRuntime := strings.HasPrefix(f.Function, "runtime.")
		if inside && !isRuntime || !more {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		inside = inside || f.Function == "runtime.gopanic"
	}
}
