package formats

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxKey is the longest key in bytes: LMDB's limit.
const MaxKey = 511

// CheckKey reports why key cannot be the canonical name of a sample: it is the source's
// path without extension, '/'-separated, valid UTF-8 of 1 to 511 bytes, relative, with no
// NUL byte and no element that is empty, "." or "..". So a key is a safe relative path.
func CheckKey(key string) error {
	if isPlainKey(key) {
		return nil
	}
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", ErrKey)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: it has %d bytes, at most %d are possible", ErrKey, len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: it is not valid UTF-8", ErrKey)
	case strings.IndexByte(key, 0) >= 0:
		return fmt.Errorf("%w: it has a NUL byte", ErrKey)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%w: the path element %q", ErrKey, part)
		}
	}
	return nil
}

// plainKey says in one pass that key is one of the ordinary ones: ASCII, without an element
// that is empty or begins with a dot. A manifest has many millions of them.
func isPlainKey(key string) bool {
	begins := true // an element
	for i := range len(key) {
		switch c := key[i]; {
		case c == '/' && !begins:
			begins = true
			continue
		case c == '/', c == '.' && begins, c == 0, c >= utf8.RuneSelf:
			return false
		}
		begins = false
	}
	return !begins && len(key) <= MaxKey
}
