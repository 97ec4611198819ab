package formats

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrSplit is returned for a split's name that CheckSplit refuses.
var ErrSplit = errors.New("bad name of a split")

// maxSplit leaves room for what a dataset's name has besides; file systems allow 255 bytes.
const maxSplit = 200

// CheckSplit reports why name cannot be the name of a split. A folder of datasets has one for
// each split, OUT/NAME.lmdb, so that it must be one plain part of a path. The empty name is
// that of no split.
func CheckSplit(name string) error {
	switch {
	case name == "." || name == "..":
		return fmt.Errorf("%w: %q", ErrSplit, name)
	case len(name) > maxSplit:
		return fmt.Errorf("%w: it has %d bytes, at most %d are possible", ErrSplit, len(name), maxSplit)
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%w: %q has a slash, and datasets' files are named by splits", ErrSplit, name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: %q has characters that a file's name must not have", ErrSplit, name)
	}
	return nil
}
