package formats

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Registry is an ordered list of formats; dsconv.Formats returns the full one.
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

// ByPath finds the first format that matches path.
func (r Registry) ByPath(path string) (Format, error) {
	if err := CheckLocal(path); err != nil {
		return nil, err
	}
	for _, f := range r {
		if f.Match(path) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: neither its name nor its content is that of a known format: %s",
		ErrUnknownFormat, path, strings.Join(r.names(), ", "))
}

// ByExistingPath is ByPath for a path that must exist.
func (r Registry) ByExistingPath(path string) (Format, error) {
	f, err := r.ByPath(path)
	if _, missing := os.Lstat(path); missing != nil && errors.Is(err, ErrUnknownFormat) {
		return nil, NotFound(path)
	}
	return f, err
}

// Open opens the dataset at path with the format that matches.
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

// CheckLocal rejects a URL of an object store (s3://, gs://, ...), so that no folder of that
// name is ever created.
func CheckLocal(path string) error {
	if scheme, _, ok := strings.Cut(path, "://"); ok && !strings.ContainsAny(scheme, "/\\") {
		return fmt.Errorf("%s: %w", path, ErrRemote)
	}
	return nil
}
