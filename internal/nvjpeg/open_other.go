//go:build !linux || !cgo

package nvjpeg

import "fmt"

// Library is nvJPEG.
type Library struct{}

// Open fails: this build cannot load nvJPEG.
func Open(Search) (*Library, error) {
	return nil, fmt.Errorf("%w: this build of dsconv has no GPU support; build it for Linux with cgo", errNotFound)
}

// HasVideo reports whether Video can be loaded.
func HasVideo() bool { return false }

// Path is the file that the library was loaded from.
func (*Library) Path() string { return "" }

// Version is the library's version, such as "13.3.2".
func (*Library) Version() string { return "" }
