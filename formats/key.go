package formats

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// MaxKey is the longest key in bytes: LMDB's limit.
const MaxKey = 511

// CheckKey reports why key is not a valid key. A key is the source's path without extension,
// '/'-separated, valid UTF-8 of 1 to 511 bytes, relative, with no NUL byte and no path element
// that is empty, "." or "..". So a key is a safe relative path.
func CheckKey(key string) error {
	if isPlainKey(key) {
		return nil
	}
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", ErrKey)
	case len(key) > MaxKey:
		return fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrKey, len(key), MaxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: it is not valid UTF-8", ErrKey)
	case strings.IndexByte(key, 0) >= 0:
		return fmt.Errorf("%w: it has a NUL byte", ErrKey)
	}
	for element := range strings.SplitSeq(key, "/") {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%w: it has the path element %q", ErrKey, element)
		}
	}
	return nil
}

// isPlainKey reports in one pass that key is an ordinary valid key: ASCII, no path element
// that is empty or begins with a dot. It is fast because a manifest has many millions of keys.
func isPlainKey(key string) bool {
	begins := true // the next character begins a path element
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

// Find returns the index of the sample with the key, by binary search; ErrKey if there is
// none.
func Find(ds Dataset, key string) (int, error) {
	i, ok, err := search(ds, key)
	if err == nil && !ok {
		err = fmt.Errorf("%w: there is no sample with the key %q", ErrKey, key)
	}
	if err != nil {
		return 0, err
	}
	return i, nil
}

// search is the dataset's own search, if it has one.
func search(ds Dataset, key string) (i int, ok bool, failed error) {
	if own, has := ds.(interface {
		FindKey(key string) (i int, ok bool, err error)
	}); has {
		return own.FindKey(key)
	}
	probe := func(i int) string {
		in, err := ds.Info(i)
		failed = cmp.Or(failed, err)
		return in.Key
	}
	i = sort.Search(ds.Len(), func(i int) bool { return probe(i) >= key })
	return i, i < ds.Len() && probe(i) == key, failed
}

// Locate returns the index in src of each of the samples: the one with the path of its source file, if only one has it,
// else the one with its key, -1 if there is none. (An image and its augmented copies have the path of one file.)
func Locate(src Dataset, samples []Info) ([]int, error) {
	const several = -2
	byPath, byKey := map[string]int{}, map[string]int{}
	for _, in := range samples {
		byPath[in.Source.Path], byKey[in.Key] = -1, -1
	}
	for i := range src.Len() {
		in, err := src.Info(i)
		if err != nil {
			return nil, err
		}
		if before, ok := byPath[in.Source.Path]; ok && before == -1 {
			byPath[in.Source.Path] = i
		} else if ok {
			byPath[in.Source.Path] = several
		}
		if _, ok := byKey[in.Key]; ok {
			byKey[in.Key] = i
		}
	}
	byPath[""] = -1 // not a path
	at := make([]int, len(samples))
	for k, in := range samples {
		if at[k] = byPath[in.Source.Path]; at[k] < 0 {
			at[k] = byKey[in.Key]
		}
	}
	return at, nil
}
