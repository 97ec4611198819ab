package formats

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Registry is an ordered list of formats; dsconv.Formats returns the full one. The first one that matches a
// path has it. So formats that other programs write, which match by the content of what is there, come
// first, then dsconv's own, which match by the name too, and the folder last.
type Registry []Format

// Describer is a Format whose datasets have a description beside the data.
type Describer interface {
	// Describes reports whether the description of a dataset of this format is at path. It looks for one file: a registry
	// asks this before other formats read what is there.
	Describes(path string) bool
}

// Aliased is a Format that users also know by other names than its own.
type Aliased interface {
	// Aliases are in lower case.
	Aliases() []string
}

// ByName finds a format by its name or an alias, in any case. The error of an unknown name lists the
// formats' own names.
func (r Registry) ByName(name string) (Format, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	for _, named := range []func(Format, string) bool{hasName, hasAlias} { // an alias may be the name of another format
		for _, f := range r {
			if named(f, name) {
				return f, nil
			}
		}
	}
	return nil, fmt.Errorf("%w %q; known: %s", ErrUnknownFormat, name, strings.Join(r.names(), ", "))
}

func hasName(f Format, name string) bool { return strings.EqualFold(f.Name(), name) }

func hasAlias(f Format, name string) bool {
	a, ok := f.(Aliased)
	return ok && slices.ContainsFunc(a.Aliases(), func(alias string) bool { return strings.EqualFold(alias, name) })
}

// ByPath finds the first format that matches path.
func (r Registry) ByPath(path string) (Format, error) {
	if err := cmp.Or(r.check(), CheckPath(path)); err != nil {
		return nil, err
	}
	var failed error
	for _, matches := range []func(Format, string) bool{describes, Format.Match} {
		for _, f := range r {
			found := false
			failed = cmp.Or(failed, contained(f, path, func() error { found = matches(f, path); return nil }))
			if found {
				return f, nil
			}
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, fmt.Errorf("%w: %s: neither its name nor its content is that of a known format: %s",
		ErrUnknownFormat, path, strings.Join(r.names(), ", "))
}

func describes(f Format, path string) bool {
	d, ok := f.(Describer)
	return ok && d.Describes(path)
}

// ByExistingPath is ByPath for a path that must exist.
func (r Registry) ByExistingPath(path string) (Format, error) {
	f, err := r.ByPath(path)
	if _, missing := os.Lstat(path); missing != nil && errors.Is(err, ErrUnknownFormat) {
		return nil, NotFound(path)
	}
	return f, err
}

// Writable returns the formats that can be written. Where a dataset is written to is looked up among
// these: another program's dataset at that path is then something that is in the way.
func (r Registry) Writable() Registry {
	return slices.DeleteFunc(slices.Clone(r), func(f Format) bool {
		_, ok := f.(WritableFormat)
		return f != nil && !ok
	})
}

// Open opens the dataset at path with the format that matches.
func (r Registry) Open(path string) (Dataset, error) {
	f, err := r.ByExistingPath(path)
	if err != nil {
		return nil, err
	}
	return openWith(f, path, func() (Dataset, error) { return f.Open(path) })
}

func (r Registry) names() []string {
	names := make([]string, len(r))
	for i, f := range r {
		names[i] = f.Name()
	}
	return names
}

// check returns an error if the registry has nothing to open datasets with.
func (r Registry) check() error {
	if len(r) == 0 {
		return errors.New("formats: the registry has no formats: give dsconv.Formats()")
	}
	return nil
}

// CheckPath rejects the empty path and a URL of an object store (s3://, gs://, ...), so that no
// folder of that name is ever created.
func CheckPath(path string) error {
	if path == "" {
		return errNoPath
	}
	if scheme, _, ok := strings.Cut(path, "://"); ok && !strings.ContainsAny(scheme, "/\\") {
		return fmt.Errorf("%s: %w", path, ErrRemote)
	}
	return nil
}

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
