package formats

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Registry is an explicit, ordered list of formats; formats/all has the full one.
type Registry []Format

// ByName finds a format by its name. The error of an unknown name lists the known ones.
func (r Registry) ByName(name string) (Format, error) {
	for _, f := range r {
		if f.Name() == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w %q; known: %s", ErrUnknownFormat, name, strings.Join(r.names(), ", "))
}

// ByPath finds the first format that path names.
func (r Registry) ByPath(path string) (Format, error) {
	if err := CheckLocal(path); err != nil {
		return nil, err
	}
	for _, f := range r {
		if f.Match(path) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: neither its name nor what is there tells; known: %s",
		ErrUnknownFormat, path, strings.Join(r.names(), ", "))
}

// Of is ByPath of a dataset that should be there.
func (r Registry) ByExistingPath(path string) (Format, error) {
	f, err := r.ByPath(path)
	if _, missing := os.Lstat(path); missing != nil && errors.Is(err, ErrUnknownFormat) {
		return nil, NotFound(path)
	}
	return f, err
}

// Open opens the dataset at path with the format that it names.
func (r Registry) Open(path string) (Dataset, error) {
	f, err := r.ByExistingPath(path)
	if err != nil {
		return nil, err
	}
	return f.Open(path)
}

func (r Registry) names() []string {
	names := make([]string, len(r))
	for i, f := range r {
		names[i] = f.Name()
	}
	return names
}

// CheckLocal refuses what looks like an address in an object store (s3://, gs://, ...),
// so that it never becomes a folder of that name.
func CheckLocal(path string) error {
	if scheme, _, ok := strings.Cut(path, "://"); ok && !strings.ContainsAny(scheme, "/\\") {
		return fmt.Errorf("%s: %w", path, ErrRemote)
	}
	return nil
}
