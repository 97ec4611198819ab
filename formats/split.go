package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrSplit is returned for a split name that CheckSplit rejects.
var ErrSplit = errors.New("bad split name")

// maxSplit leaves room for the rest of a dataset's file name; file systems allow 255 bytes.
const maxSplit = 200

// SplitFolders returns the names of the folders that are splits if all first-level folders have such names, in the order
// in which splits are listed. The caller owns the list.
func SplitFolders() []string { return []string{"train", "val", "valid", "validation", "test"} }

// SplitWords returns the words that name a split in the names of files, arrays and folders of other programs. The caller
// owns the list.
func SplitWords() []string {
	return []string{"train", "training", "val", "valid", "validation", "dev", "test", "testing"}
}

// IsSplitWord reports whether word is one of SplitWords, in upper or lower case.
func IsSplitWord(word string) bool { return slices.Contains(SplitWords(), strings.ToLower(word)) }

// CheckSplit reports why name cannot be the name of a split. A folder of datasets has one file
// per split, OUT/NAME.lmdb, so the name must be a single path element. The empty name means no
// split.
func CheckSplit(name string) error {
	switch {
	case name == "." || name == "..":
		return fmt.Errorf("%w: %q", ErrSplit, name)
	case len(name) > maxSplit:
		return fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrSplit, len(name), maxSplit)
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%w: %q has a slash, but file names are built from split names", ErrSplit, name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: %q has characters that a file name must not have", ErrSplit, name)
	}
	return nil
}
